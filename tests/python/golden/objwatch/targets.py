"""Every way to name a target and an exclude."""

import shop.desk
import shop.stock
import objwatch
from shop.stock import Shelf, count

CHOICES = [
    (["shop"], None),
    (["shop.stock"], None),
    (["shop.stock:Shelf"], None),
    (["shop.stock:Shelf.put()"], None),
    (["shop.stock:count()"], None),
    (["shop/desk.py"], None),
    ("shop.desk", None),
    ([shop.stock], None),
    ([Shelf], None),
    ([count], None),
    ([Shelf.put], None),
    ([Shelf, count, "shop.stock:Till.pay()"], None),
    (["shop"], ["shop.desk"]),
    (["shop.stock"], ["shop.stock:Shelf"]),
    (["shop.stock:Shelf"], ["shop.stock:Shelf.look()"]),
    (["shop.stock:Shelf"], ["shop.stock:Shelf.label"]),
]

for targets, excluded in CHOICES:
    with objwatch.ObjWatch(targets, exclude_targets=excluded):
        shop.desk.serve()

shelf = Shelf()
with objwatch.ObjWatch(["shop.stock:Shelf.label"]):
    shelf.put("bread")
    shelf.look()

"""with_globals: named ones."""

import shop.desk
import objwatch

with objwatch.ObjWatch(["shop.stock::COUNT", "shop.stock:Shelf"], with_globals=True):
    shop.desk.serve()

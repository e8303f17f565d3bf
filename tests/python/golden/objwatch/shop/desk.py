from shop.stock import Shelf, Till, count


def serve():
    shelf = Shelf()
    shelf.put("tea")
    shelf.put("milk")
    till = Till()
    till.pay(3)
    shelf.look()
    return count(shelf)

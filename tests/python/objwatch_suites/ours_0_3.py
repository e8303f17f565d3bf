"""Puts filmstrip in the place of ObjWatch 0.3 before its tests are collected."""

import filmstrip.compat.objwatch

filmstrip.compat.objwatch.install(version="0.3")

"""Puts filmstrip in ObjWatch's place before its tests are collected."""

import filmstrip.compat.objwatch

filmstrip.compat.objwatch.install(strict=True)

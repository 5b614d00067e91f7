"""The one error of the layout algebra."""


class LayoutError(ValueError):
    """A layout that cannot exist, or an operation that has no answer for the layouts it was given. The message says
    which.
    """

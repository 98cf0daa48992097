"""How loud a small table speaks: its numbers are few and each has much to say, so they learn as many times faster."""

LOUD = 30.0

"""Ray (optional extra `diffusearch[cluster]`): its start, and results whose errors are sentences."""

from __future__ import annotations

from typing import Any

from diffusearch.errors import UserError
from diffusearch.worker_pool import DIED

STARTS = 5  # attempts to start Ray on this machine


def start_ray(option: str, address: str | None = None, processes: int | None = None) -> tuple[Any, bool]:
    """Ray's module, and whether this call has started or joined a cluster: one that the caller uses already stays.

    Without an address Ray looks for a cluster itself; `local` starts one here, with so many `processes`. `option` is
    the one of the command line that asks for Ray.
    """
    try:
        import ray
    except ImportError as error:
        words = "install the extra: pip install 'diffusearch[cluster]'"
        raise UserError(f"{option} needs Ray; {words}, or leave the option out") from error
    if ray.is_initialized():
        return ray, False
    connect(ray, address, processes)
    return ray, True


def connect(ray: Any, address: str | None, processes: int | None) -> None:
    """Join the cluster at an address, or start one here; Ray gives a start 30 seconds, too few on a busy machine."""
    if address not in (None, "local"):
        try:
            ray.init(address=address, log_to_driver=False)
        except ConnectionError as error:
            raise UserError(f"no Ray cluster at {address}; start one with `ray start --head` or use `local`") from error
        return
    here = {} if address is None else {"num_cpus": processes, "include_dashboard": False}
    for attempt in range(STARTS):
        try:
            ray.init(log_to_driver=False, **here)
            return
        except Exception as error:  # Ray raises the base class where its processes take too long
            ray.shutdown()
            if attempt == STARTS - 1:
                raise UserError(
                    f"Ray did not start here in {STARTS} attempts ({str(error)[:200]}); try `ray start --head`"
                ) from error


def ray_result(ray: Any, reference: Any, died: str = DIED) -> Any:
    """What a task returns (of a list of references: a list). A UserError of the task is raised without the worker's
    traceback; the death of its worker is a UserError with the sentence `died`."""
    try:
        return ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        raise error.cause if isinstance(error.cause, UserError) else error from None
    except (ray.exceptions.WorkerCrashedError, ray.exceptions.OutOfMemoryError) as error:
        raise UserError(died) from error

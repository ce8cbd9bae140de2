//! Every export runs in here: errors become a status and a message, and no panic crosses.

use crate::error::{Error, Status};
use core::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    static MESSAGE: RefCell<String> = const { RefCell::new(String::new()) };
}

#[inline]
pub(super) fn guard(call: impl FnOnce() -> Result<(), Error>) -> i32 {
    // What a call may leave half done are the caller's arrays, which it can see are not in order.
    // The result becomes a number in there: to copy one that was just written stalls a short call.
    let status = catch_unwind(AssertUnwindSafe(|| match call() {
        Ok(()) => Status::Ok as i32,
        Err(error) => fail(error),
    }));
    status.unwrap_or_else(|panic| {
        let text = panic
            .downcast_ref::<&str>()
            .map(|s| s.to_string())
            .or_else(|| panic.downcast_ref::<String>().cloned());
        fail(Error::Internal { what: text.unwrap_or_default() })
    })
}

#[cold]
fn fail(error: Error) -> i32 {
    // A thread on its way out has no message any more; the status still says what happened.
    let _ = MESSAGE.try_with(|m| *m.borrow_mut() = error.to_string());
    error.status() as i32
}

/// Runs `f` on this thread's last message.
pub(super) fn with_last_message<R>(f: impl FnOnce(&str) -> R) -> R {
    let mut f = Some(f);
    let result = MESSAGE.try_with(|m| f.take().map(|f| f(&m.borrow())));
    match (result, f) {
        (Ok(Some(r)), _) => r,
        (_, Some(f)) => f(""),
        _ => unreachable!("f is called by one of the two"),
    }
}

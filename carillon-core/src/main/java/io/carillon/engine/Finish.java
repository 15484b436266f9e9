package io.carillon.engine;

import io.carillon.run.Transition;
import io.carillon.store.Ended;

/** Where a runner hands over what it decided. */
interface Finish {
    /** To be written, fenced. */
    void submit(Held held, Ended ended);

    /** To be let go, counting nothing. */
    void handBack(Held held);

    /** In the database already, by the handler's own transaction. */
    void done(Held held, Transition transition);
}

package io.carillon.it.store;

import java.util.concurrent.Callable;

/** One deed whose answer gets lost: how to do it (the same again after the loss), and what must be true after the second time. */
record LostAnswer(Callable<?> deed, Check check) {
    /** Looks at the second answer and at what is stored. */
    interface Check {
        void on(Object secondAnswer) throws Exception;
    }

    static LostAnswer of(Callable<?> deed, Check check) {
        return new LostAnswer(deed, check);
    }
}

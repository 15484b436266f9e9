package io.carillon.it.lostanswer;

import java.util.concurrent.Callable;

/** A call whose answer is lost. The test repeats the same call after the loss, then runs the check. */
record LostAnswer(Callable<?> call, Check check) {
    /** Checks the answer of the second call and the stored rows. */
    interface Check {
        void verify(Object secondAnswer) throws Exception;
    }

    static LostAnswer of(Callable<?> call, Check check) {
        return new LostAnswer(call, check);
    }
}

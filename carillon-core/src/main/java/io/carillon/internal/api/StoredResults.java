package io.carillon.internal.api;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.run.Run;
import io.carillon.run.RunState;
import io.carillon.spi.PayloadCodec;
import java.util.Optional;

/** Decodes the stored results of runs. */
public final class StoredResults {
    private StoredResults() {}

    /** Returns the result of a succeeded run; empty if it has not succeeded or has no result. */
    public static <R> Optional<R> decode(Run run, PayloadCodec codec, Class<R> type) {
        if (run.state() != RunState.SUCCEEDED) return Optional.empty();
        return Optional.ofNullable(run.details().result()).map(stored -> {
            if (!stored.codec().equals(codec.name()))
                throw new CarillonException(
                        ErrorCode.PAYLOAD_UNREADABLE,
                        ("The result of %s was written by the codec '%s', but the codec of this process is '%s'. Read"
                                        + " it in a process with the same codec.")
                                .formatted(run.id(), stored.codec(), codec.name()));
            try {
                return codec.decode(stored.bytes(), type);
            } catch (CarillonException failure) {
                throw new CarillonException(
                        ErrorCode.PAYLOAD_UNREADABLE,
                        "The stored result of %s does not fit %s. Read it as the type that the handler returned."
                                .formatted(run.id(), type.getSimpleName()),
                        failure);
            }
        });
    }
}

package io.carillon.internal.postgres.run;

import io.carillon.internal.jdbc.StorageException;
import io.carillon.internal.store.run.RunWaitStore.RunKey;
import io.carillon.internal.value.ControlCharacters;
import java.util.List;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Writes groups of waiting runs. A rejected run is left out, so that the others do not wait for it. */
final class RunGroups {
    private static final Logger log = LoggerFactory.getLogger(RunGroups.class);

    private RunGroups() {}

    /** Calls {@code write}, and again for each half if a row is rejected, down to the row, which is logged. */
    static void write(List<RunKey> group, Consumer<List<RunKey>> write) {
        if (group.isEmpty()) return;
        try {
            write.accept(group);
        } catch (StorageException failure) {
            if (!failure.isRowError()) throw failure;
            if (group.size() == 1) {
                log.error(
                        "wait could not be answered; will retry project={} run={} error={}",
                        ControlCharacters.escape(group.get(0).project()),
                        group.get(0).run(),
                        ControlCharacters.escape(failure.getMessage()));
                return;
            }
            int half = group.size() / 2;
            write(group.subList(0, half), write);
            write(group.subList(half, group.size()), write);
        }
    }
}

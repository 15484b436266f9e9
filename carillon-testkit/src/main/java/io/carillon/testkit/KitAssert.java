package io.carillon.testkit;

import io.carillon.run.HandlerType;
import java.util.List;
import org.assertj.core.api.AbstractAssert;

/** Assertions on what was enqueued. */
public final class KitAssert extends AbstractAssert<KitAssert, CarillonKit> {
    KitAssert(CarillonKit kit) {
        super(kit, KitAssert.class);
    }

    /** At least one run of this handler was enqueued, whatever became of it since; go on to say which. */
    public <T> RunsAssert<T> enqueued(HandlerType<T> type) {
        return RunsAssert.of(actual, type);
    }

    /** No run of this handler was enqueued. */
    public KitAssert notEnqueued(HandlerType<?> type) {
        List<KitRun> runs = actual.runs(type);
        if (!runs.isEmpty()) failWithMessage("Expected no run of %s, but there is: %s", type.name(), runs);
        return this;
    }
}

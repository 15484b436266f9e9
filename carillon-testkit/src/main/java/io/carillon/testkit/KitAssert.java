package io.carillon.testkit;

import io.carillon.run.HandlerType;
import java.util.List;
import org.assertj.core.api.AbstractAssert;

/** Assertions on enqueued runs. */
public final class KitAssert extends AbstractAssert<KitAssert, CarillonKit> {
    KitAssert(CarillonKit kit) {
        super(kit, KitAssert.class);
    }

    /**
     * Verifies that at least one run of this handler was enqueued, in any state, and returns assertions on these runs.
     */
    public <T> RunsAssert<T> enqueued(HandlerType<T> type) {
        return RunsAssert.of(actual, type);
    }

    /** Verifies that no run of this handler was enqueued. */
    public KitAssert notEnqueued(HandlerType<?> type) {
        List<KitRun> runs = actual.runs(type);
        if (!runs.isEmpty()) failWithMessage("Expected no run of %s, but found: %s", type.name(), runs);
        return this;
    }
}

package io.carillon.internal.api;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.RunDueResult;
import io.carillon.internal.engine.DueRunExecutor;
import io.carillon.internal.engine.EngineParts;
import io.carillon.internal.engine.stats.StatsWriter;
import io.carillon.run.RunId;
import io.carillon.spi.AttemptInterceptor;
import io.carillon.spi.ExecuteResult;
import io.carillon.spi.MessageQueue;
import io.carillon.spi.MessageResult;
import java.time.Duration;
import java.util.List;

/** Executes runs on the threads of callers: those that are due, one that is named, or those that messages name. */
public final class CalledExecution {
    private final EngineParts parts;
    private final StatsWriter statsWriter;
    private final RunWriter runWriter;

    public CalledExecution(EngineParts parts, StatsWriter statsWriter, RunWriter runWriter) {
        this.parts = parts;
        this.statsWriter = statsWriter;
        this.runWriter = runWriter;
    }

    public RunDueResult runDue(Duration budget, AttemptInterceptor interceptor) {
        if (budget.isNegative() || budget.isZero() || budget.compareTo(Duration.ofHours(1)) > 0)
            throw new CarillonException(
                    ErrorCode.INVALID_OPTION, "budget must be between 1 ms and 1 h (was %s).".formatted(budget));
        refuseIfOutdated();
        DueRunExecutor.Result result =
                statsWriter.withoutThread(() -> new DueRunExecutor(parts.withInterceptor(interceptor)).runDue(budget));
        return new RunDueResult(result.processed(), result.errors());
    }

    public ExecuteResult execute(String project, RunId run) {
        refuseIfOutdated();
        return statsWriter.withoutThread(() -> new DueRunExecutor(parts).execute(project, run));
    }

    public List<MessageResult> consume(List<String> messages) {
        refuseIfOutdated();
        return runWriter.requireMessenger().consume(messages, this::execute);
    }

    public int consume(MessageQueue queue, int maxBatch, Duration wait) throws InterruptedException {
        refuseIfOutdated();
        return runWriter.requireMessenger().consume(queue, maxBatch, wait, this::execute);
    }

    private void refuseIfOutdated() {
        parts.storage().outdated().ifPresent(why -> {
            throw new CarillonException(
                    ErrorCode.SCHEMA_TOO_NEW,
                    ("The database schema belongs to a newer version of Carillon: %s. Upgrade this process to that"
                                    + " version.")
                            .formatted(why));
        });
    }
}

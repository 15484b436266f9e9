package io.carillon.internal.engine.attempt;

import io.carillon.internal.engine.listener.AttemptListener;
import io.carillon.internal.run.Attempt;
import io.carillon.internal.run.OutcomeDecider;
import io.carillon.internal.run.RetryRule;
import io.carillon.internal.run.Transition;
import io.carillon.internal.store.run.EndedAttempt;
import io.carillon.run.Outcome;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;

/** Executes one attempt: reports the start, calls the handler, decides on the transition, and passes it on. */
public final class AttemptRunner {
    /** The receiver of the results. */
    public interface ResultSink {
        /** Writes the end of an attempt, with the fence. */
        void submit(ActiveAttempt activeAttempt, EndedAttempt endedAttempt);

        /** Releases the run without counting an attempt. */
        void handBack(ActiveAttempt activeAttempt);

        /** Handles an attempt whose completion the handler's own transaction has already written. */
        void handleCommitted(ActiveAttempt activeAttempt, Transition transition);
    }

    private static final Logger log = LoggerFactory.getLogger(AttemptRunner.class);

    private final HandlerRegistry handlers;
    private final ResultSink results;
    private final TransactionalCalls transactions;
    private final AttemptListener listener;

    public AttemptRunner(
            HandlerRegistry handlers, ResultSink results, TransactionalCalls transactions, AttemptListener listener) {
        this.handlers = handlers;
        this.results = results;
        this.transactions = transactions;
        this.listener = listener;
    }

    public void run(ActiveAttempt activeAttempt) {
        BoundHandler handler = handlers.find(activeAttempt.attemptValue()).orElseThrow();
        reportStart(activeAttempt);
        Outcome outcome = call(activeAttempt, handler);
        deliverOutcome(activeAttempt, handler, outcome);
    }

    private void reportStart(ActiveAttempt activeAttempt) {
        Attempt attempt = activeAttempt.attemptValue();
        Duration waited = activeAttempt.startDelay();
        MDC.put("runId", attempt.run().toString());
        MDC.put("handler", attempt.target().name());
        listener.onAttemptStarted(attempt, waited);
    }

    /** Calls the handler. Never throws: every exception of user code becomes an outcome. */
    private Outcome call(ActiveAttempt activeAttempt, BoundHandler handler) {
        try {
            if (handler.transactional())
                return outcomeAfterStop(activeAttempt, handler, transactions.call(activeAttempt, handler));
            activeAttempt.useTransactions(transactions);
            activeAttempt.begin(handler.timeout());
            return outcomeAfterStop(
                    activeAttempt,
                    handler,
                    activeAttempt.stopCause() == null
                            ? callWithoutTransaction(activeAttempt, handler)
                            : Outcome.snoozed(Duration.ZERO));
        } catch (Throwable failure) {
            return outcomeAfterStop(activeAttempt, handler, Outcome.failed(failure));
        } finally {
            activeAttempt.detachThread();
            // Clear an interrupt that was meant for the handler, so that the next task of this thread does not see it.
            Thread.interrupted();
            MDC.clear();
        }
    }

    private static Outcome callWithoutTransaction(ActiveAttempt activeAttempt, BoundHandler handler) throws Exception {
        return handler.call().run(activeAttempt.attemptValue(), activeAttempt, null);
    }

    /**
     * Returns the outcome that counts after a stop was requested. A success counts as success; a failure counts
     * as the stop.
     */
    private static Outcome outcomeAfterStop(ActiveAttempt activeAttempt, BoundHandler handler, Outcome outcome) {
        ActiveAttempt.StopCause stopCause = activeAttempt.stopCause();
        if (stopCause == null || outcome instanceof Outcome.Succeeded || outcome instanceof Outcome.Rejected)
            return outcome;
        if (stopCause == ActiveAttempt.StopCause.CANCELLED) return cancelled(activeAttempt, handler);
        if (outcome instanceof Outcome.AwaitingCallback) return outcome;
        if (stopCause == ActiveAttempt.StopCause.TIMED_OUT) return new Outcome.TimedOut(activeAttempt.timeout());
        return outcome;
    }

    private static Outcome cancelled(ActiveAttempt activeAttempt, BoundHandler handler) {
        return handler.handlesCancel() && !activeAttempt.endsOnCancel()
                ? Outcome.snoozed(Duration.ZERO)
                : new Outcome.Cancelled(activeAttempt.stopMessage());
    }

    private void deliverOutcome(ActiveAttempt activeAttempt, BoundHandler handler, Outcome outcome) {
        if (!activeAttempt.tryEnd()) {
            log.warn(
                    "result discarded; attempt was already ended run={} attempt={}",
                    activeAttempt.id(),
                    activeAttempt.attempt());
            return;
        }
        if (transactions.takeCommitted(activeAttempt)) {
            results.handleCommitted(activeAttempt, new Transition.Complete(null));
            return;
        }
        // A run that awaits a callback does not need this node anymore.
        boolean done = outcome instanceof Outcome.Succeeded || outcome instanceof Outcome.AwaitingCallback;
        if (activeAttempt.stopCause() == ActiveAttempt.StopCause.NODE_STOPPING && !done) {
            results.handBack(activeAttempt);
            return;
        }
        results.submit(activeAttempt, toEndedAttempt(activeAttempt, handler, outcome));
    }

    /** Ends an attempt whose handler ignored the interrupt. The write has a fence like any other. */
    void forceEnd(ActiveAttempt activeAttempt) {
        if (!activeAttempt.tryEnd()) return;
        BoundHandler handler = handlers.find(activeAttempt.attemptValue()).orElseThrow();
        Outcome outcome = activeAttempt.stopCause() == ActiveAttempt.StopCause.CANCELLED
                ? cancelled(activeAttempt, handler)
                : new Outcome.TimedOut(activeAttempt.timeout());
        results.submit(activeAttempt, toEndedAttempt(activeAttempt, handler, outcome));
    }

    private static EndedAttempt toEndedAttempt(ActiveAttempt activeAttempt, BoundHandler handler, Outcome outcome) {
        return activeAttempt.toEndedAttempt(
                decide(activeAttempt.attemptValue(), activeAttempt.retryRule(handler.retry()), outcome),
                handler.keepPayload());
    }

    /**
     * Decides on the transition. If that fails, the exception counts as the attempt's failure; otherwise the attempt
     * would be held forever.
     */
    private static Transition decide(Attempt attempt, RetryRule retry, Outcome outcome) {
        try {
            return OutcomeDecider.decide(attempt, outcome, retry, ThreadLocalRandom.current());
        } catch (Throwable broken) {
            return OutcomeDecider.decide(attempt, Outcome.failed(broken), retry, ThreadLocalRandom.current());
        }
    }
}

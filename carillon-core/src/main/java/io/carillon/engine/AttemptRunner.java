package io.carillon.engine;

import io.carillon.run.Attempt;
import io.carillon.run.Decider;
import io.carillon.run.Outcome;
import io.carillon.run.RunListener;
import io.carillon.run.Transition;
import io.carillon.store.Ended;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;

/** One attempt from start to decision. What it reads like is what happens: start, call, decide, hand over. */
final class AttemptRunner {
    /** Where a runner hands over what it decided. */
    interface Finish {
        /** To be written, fenced. */
        void submit(Held held, Ended ended);

        /** To be let go, counting nothing. */
        void handBack(Held held);

        /** In the database already, by the handler's own transaction. */
        void done(Held held, Transition transition);
    }

    private static final Logger log = LoggerFactory.getLogger(AttemptRunner.class);

    private final HandlerBook handlers;
    private final Finish finish;
    private final TransactionalCalls transactions;
    private final RunListener listener;

    AttemptRunner(HandlerBook handlers, Finish finish, TransactionalCalls transactions, RunListener listener) {
        this.handlers = handlers;
        this.finish = finish;
        this.transactions = transactions;
        this.listener = listener;
    }

    void run(Held held) {
        BoundHandler handler = handlers.find(held.attemptValue()).orElseThrow();
        started(held);
        Outcome outcome = call(held, handler);
        finished(held, handler, outcome);
    }

    private void started(Held held) {
        Attempt attempt = held.attemptValue();
        Duration waited = held.waited();
        MDC.put("runId", attempt.run().toString());
        MDC.put("handler", attempt.target().name());
        log.debug(
                "run started run={} queue={} attempt={} planned={} late={}",
                attempt.run(),
                attempt.lane().queue(),
                attempt.number(),
                attempt.times().plannedAt(),
                waited);
        listener.started(attempt, waited);
    }

    /** Never throws: whatever user code does is an outcome. */
    private Outcome call(Held held, BoundHandler handler) {
        try {
            if (handler.transactional()) return said(held, transactions.call(held, handler));
            held.begin(handler.timeout());
            return said(held, held.stopped() == null ? plain(held, handler) : Outcome.snoozed(Duration.ZERO));
        } catch (Throwable failure) {
            return said(held, Outcome.failed(failure));
        } finally {
            held.finish();
            // An interrupt was meant for the handler, not for whatever this thread does next.
            Thread.interrupted();
            MDC.clear();
        }
    }

    private static Outcome plain(Held held, BoundHandler handler) throws Exception {
        return handler.call().run(held.attemptValue(), held, null);
    }

    /** A success counts even if somebody asked it to stop; a failure after a stop is the stop. */
    private static Outcome said(Held held, Outcome outcome) {
        Held.Stop stop = held.stopped();
        if (stop == null || outcome instanceof Outcome.Succeeded || outcome instanceof Outcome.Rejected) return outcome;
        if (stop == Held.Stop.CANCELLED) return new Outcome.Cancelled(held.stopReason());
        if (outcome instanceof Outcome.Awaiting) return outcome;
        if (stop == Held.Stop.TIMED_OUT) return new Outcome.TimedOut(held.timeout());
        return outcome;
    }

    private void finished(Held held, BoundHandler handler, Outcome outcome) {
        if (!held.end()) {
            log.warn("result came after the attempt was ended run={} attempt={}", held.id(), held.attempt());
            return;
        }
        if (transactions.committed(held)) {
            finish.done(held, new Transition.Complete(null));
            return;
        }
        // What somebody outside goes on with needs this node no more.
        boolean done = outcome instanceof Outcome.Succeeded || outcome instanceof Outcome.Awaiting;
        if (held.stopped() == Held.Stop.DRAINED && !done) {
            finish.handBack(held);
            return;
        }
        finish.submit(held, ended(held, handler, outcome));
    }

    /** The engine's own word about an attempt whose handler does not obey: fenced like any other. */
    void endByForce(Held held) {
        if (!held.end()) return;
        BoundHandler handler = handlers.find(held.attemptValue()).orElseThrow();
        Outcome outcome = held.stopped() == Held.Stop.CANCELLED
                ? new Outcome.Cancelled(held.stopReason())
                : new Outcome.TimedOut(held.timeout());
        finish.submit(held, ended(held, handler, outcome));
    }

    private static Ended ended(Held held, BoundHandler handler, Outcome outcome) {
        return held.ended(decide(held.attemptValue(), handler, outcome), handler.keepPayload());
    }

    /** An attempt nothing can be decided about would be held for ever: whatever stands in the way is its failure. */
    private static Transition decide(Attempt attempt, BoundHandler handler, Outcome outcome) {
        try {
            return Decider.decide(attempt, outcome, handler.retry(), ThreadLocalRandom.current());
        } catch (Throwable broken) {
            return Decider.decide(attempt, Outcome.failed(broken), handler.retry(), ThreadLocalRandom.current());
        }
    }
}

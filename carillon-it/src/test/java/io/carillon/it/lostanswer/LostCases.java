package io.carillon.it.lostanswer;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.internal.run.Attempt;
import io.carillon.internal.store.Storage;
import io.carillon.internal.store.run.ClaimRequest;
import io.carillon.it.fixture.PlanningContract;
import io.carillon.it.fixture.PostgresStoreFixture;
import io.carillon.it.fixture.RunSpec;
import io.carillon.it.fixture.StoreFixture;
import io.carillon.run.Priority;
import io.carillon.run.Run;
import io.carillon.run.RunFilter;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.function.Supplier;

/**
 * The base of the lost-answer cases: they prepare rows over the fixture's own connections and send the statement
 * through {@code faultyStorage}, whose network loses the answer.
 */
abstract class LostCases extends PlanningContract {
    static final Duration MINUTE = Duration.ofMinutes(1);

    final PostgresStoreFixture fixture;
    final Storage faultyStorage;

    LostCases(PostgresStoreFixture fixture, Storage through) {
        this.fixture = fixture;
        this.faultyStorage = through;
    }

    /** Returns a case for each statement, by the name of its constant. */
    abstract Map<String, Supplier<LostAnswer>> cases();

    @Override
    public final StoreFixture fixture() {
        return fixture;
    }

    /** Wraps a call without a result. */
    static Callable<?> call(Runnable call) {
        return () -> {
            call.run();
            return "done";
        };
    }

    /** A claimed run and the node that holds it. */
    record ClaimedAttempt(UUID node, Attempt attempt) {
        RunId run() {
            return attempt.run();
        }
    }

    ClaimedAttempt claimNewRun() {
        enqueue(RunSpec.mail());
        UUID node = node();
        return new ClaimedAttempt(node, claimOne(node));
    }

    /** Returns an isolated run: both nodes that executed it died. */
    RunId isolatedRun() {
        ClaimedAttempt held = claimNewRun();
        declareDeadTwice(held.node());
        return held.run();
    }

    ClaimRequest claimMails(UUID node) {
        return new ClaimRequest(node, List.of(laneClaim(RunSpec.MAIL, Priority.NORMAL, 5)), Set.of(), null, 0);
    }

    /** Asserts that the run is listed once, in the given state. */
    void assertOnce(RunId id, RunState state) {
        List<Run> listed = storage().runAdmin().list(PROJECT, RunFilter.all()).stream()
                .filter(run -> run.id().equals(id))
                .toList();
        assertThat(listed).hasSize(1);
        assertThat(listed.get(0).state()).isEqualTo(state);
    }
}

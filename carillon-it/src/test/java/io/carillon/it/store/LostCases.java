package io.carillon.it.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.run.Attempt;
import io.carillon.run.Priority;
import io.carillon.run.Run;
import io.carillon.run.RunFilter;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import io.carillon.store.ClaimRequest;
import io.carillon.store.Storage;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.function.Supplier;

/** What all cases of lost answers share: they prepare over the bench's own connections, and send the statement {@code through} the network that breaks. */
abstract class LostCases extends PlanningContract {
    static final Duration MINUTE = Duration.ofMinutes(1);

    final PostgresBench bench;
    final Storage through;

    LostCases(PostgresBench bench, Storage through) {
        this.bench = bench;
        this.through = through;
    }

    /** A case for each statement, by the name of its constant. */
    abstract Map<String, Supplier<LostAnswer>> cases();

    @Override
    final StoreBench bench() {
        return bench;
    }

    /** A call without an answer. */
    static Callable<?> call(Runnable call) {
        return () -> {
            call.run();
            return "done";
        };
    }

    /** A run that a node holds. */
    record Held(UUID node, Attempt attempt) {
        RunId run() {
            return attempt.run();
        }
    }

    Held held() {
        enqueue(Order.mail());
        UUID node = node();
        return new Held(node, claimOne(node));
    }

    /** A run that shared the deaths of two nodes. */
    RunId suspect() {
        Held held = held();
        diesTwice(held.node());
        return held.run();
    }

    ClaimRequest mails(UUID node) {
        return new ClaimRequest(node, List.of(quota(Order.MAIL, Priority.NORMAL, 5)), Set.of(), null, 0);
    }

    /** The run is listed once, and its state is this. */
    void once(RunId id, RunState state) {
        List<Run> listed = storage().runDesk().list(PROJECT, RunFilter.all()).stream()
                .filter(run -> run.id().equals(id))
                .toList();
        assertThat(listed).hasSize(1);
        assertThat(listed.get(0).state()).isEqualTo(state);
    }
}

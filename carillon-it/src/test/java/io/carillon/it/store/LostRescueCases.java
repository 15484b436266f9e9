package io.carillon.it.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.run.Attempt;
import io.carillon.run.RunFilter;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import io.carillon.store.HeldRun;
import io.carillon.store.Storage;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Supplier;

/** For each statement that rescues runs or keeps the notes for it: a deed that sends it, and the one effect it must have. */
final class LostRescueCases extends LostCases {
    LostRescueCases(PostgresBench bench, Storage through) {
        super(bench, through);
    }

    @Override
    Map<String, Supplier<LostAnswer>> cases() {
        return Map.of(
                "NodeRepository.SET_ASIDE", this::setAside,
                "RunRepository.REWRITE_NOTES", this::rewriteNotes,
                "Sweeper.FORGET_NOTES", this::release,
                "Sweeper.JUDGE", this::quarantine,
                "Sweeper.QUARANTINE", this::quarantine,
                "Sweeper.RELEASE", this::release,
                "Sweeper.SWEPT", this::release);
    }

    private LostAnswer setAside() {
        UUID last = node();
        RunId id = suspect();
        assertThat(get(id).details().parked()).isEqualTo("suspect");
        storage().nodes().declareDead(last, 0, "test");
        return LostAnswer.of(() -> through.nodes().sweep(3), answer -> {
            assertThat(get(id).details().parked()).isEqualTo("no-handler");
            once(id, RunState.WAITING);
        });
    }

    private LostAnswer rewriteNotes() {
        enqueue(Order.mail(), 2);
        UUID node = node();
        List<HeldRun> held = claim(node, 2).stream()
                .map(one -> new HeldRun(PROJECT, one.run(), 1))
                .toList();
        return LostAnswer.of(
                call(() -> through.runs().rewriteNotes(node, Set.of(0L), 1, held.subList(0, 1))), answer -> {
                    assertThat(storage().runs().notes(node)).containsExactly(1L);
                    assertThat(Set.copyOf(storage().runs().held(node))).containsExactly(held.get(0));
                });
    }

    private LostAnswer quarantine() {
        RunId id = suspect();
        UUID node = node();
        assertThat(storage().runs().claimSuspect(node, Set.of(Order.HANDLER))).isPresent();
        storage().nodes().declareDead(node, 0, "test");
        return LostAnswer.of(() -> through.nodes().sweep(1), answer -> {
            once(id, RunState.QUARANTINED);
            assertThat(get(id).crashes()).isEqualTo(1);
            assertThat(storage().runDesk().dead(PROJECT, RunFilter.all())).containsExactly(id);
            assertThat(storage().nodes().beat(node(), 0, List.of()).sweepDue()).isFalse();
        });
    }

    private LostAnswer release() {
        Held held = held();
        storage().nodes().declareDead(held.node(), 0, "test");
        return LostAnswer.of(() -> through.nodes().sweep(3), answer -> {
            once(held.run(), RunState.WAITING);
            assertThat(storage().runDesk().attempts(PROJECT, held.run())).hasSize(1);
            assertThat(claimOne(node()).counts()).isEqualTo(new Attempt.Counts(0, 1, 0));
            assertThat(storage().nodes().beat(node(), 0, List.of()).sweepDue()).isFalse();
        });
    }
}

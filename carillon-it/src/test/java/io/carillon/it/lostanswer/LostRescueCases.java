package io.carillon.it.lostanswer;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.internal.run.Attempt;
import io.carillon.internal.store.Storage;
import io.carillon.internal.store.run.OwnedRun;
import io.carillon.it.fixture.PostgresStoreFixture;
import io.carillon.it.fixture.RunSpec;
import io.carillon.run.RunFilter;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Supplier;

/**
 * For each statement that rescues runs or records claims for the rescue: a call that sends it, and a check that it took
 * effect once.
 */
final class LostRescueCases extends LostCases {
    LostRescueCases(PostgresStoreFixture fixture, Storage through) {
        super(fixture, through);
    }

    @Override
    Map<String, Supplier<LostAnswer>> cases() {
        return Map.of(
                "NodeRepository.PARK_ISOLATED", this::setAside,
                "RunRepository.REWRITE_CLAIM_RECORDS", this::rewriteNotes,
                "LostLeaseRescuer.DELETE_CLAIM_RECORDS", this::release,
                "LostLeaseRescuer.SAVE_DEATH_ANALYSIS", this::quarantine,
                "LostLeaseRescuer.QUARANTINE", this::quarantine,
                "LostLeaseRescuer.RELEASE", this::release,
                "LostLeaseRescuer.MARK_RESCUED", this::release);
    }

    private LostAnswer setAside() {
        UUID last = node();
        RunId id = isolatedRun();
        assertThat(get(id).details().parked()).isEqualTo("isolated");
        storage().nodes().declareDead(last, 0, "test");
        return LostAnswer.of(() -> faultyStorage.nodes().rescue(3), answer -> {
            assertThat(get(id).details().parked()).isEqualTo("no-handler");
            assertOnce(id, RunState.WAITING);
        });
    }

    private LostAnswer rewriteNotes() {
        enqueue(RunSpec.mail(), 2);
        UUID node = node();
        List<OwnedRun> held = claim(node, 2).stream()
                .map(one -> new OwnedRun(PROJECT, one.run(), 1))
                .toList();
        return LostAnswer.of(
                call(() -> faultyStorage.runs().replaceClaimRecords(node, Set.of(0L), 1, held.subList(0, 1))),
                answer -> {
                    assertThat(storage().runs().claimRecords(node)).containsExactly(1L);
                    assertThat(Set.copyOf(storage().runs().ownedRuns(node))).containsExactly(held.get(0));
                });
    }

    private LostAnswer quarantine() {
        RunId id = isolatedRun();
        UUID node = node();
        assertThat(storage().runs().claimOneIsolated(node, Set.of(RunSpec.HANDLER)))
                .isPresent();
        storage().nodes().declareDead(node, 0, "test");
        return LostAnswer.of(() -> faultyStorage.nodes().rescue(1), answer -> {
            assertOnce(id, RunState.QUARANTINED);
            assertThat(get(id).crashes()).isEqualTo(1);
            assertThat(storage().runAdmin().dead(PROJECT, RunFilter.all())).containsExactly(id);
            assertThat(storage().nodes().recordHeartbeat(node(), 0, List.of()).rescueDue())
                    .isFalse();
        });
    }

    private LostAnswer release() {
        ClaimedAttempt held = claimNewRun();
        storage().nodes().declareDead(held.node(), 0, "test");
        return LostAnswer.of(() -> faultyStorage.nodes().rescue(3), answer -> {
            assertOnce(held.run(), RunState.WAITING);
            assertThat(storage().runAdmin().attempts(PROJECT, held.run())).hasSize(1);
            assertThat(claimOne(node()).counts()).isEqualTo(new Attempt.Counts(0, 1, 0));
            assertThat(storage().nodes().recordHeartbeat(node(), 0, List.of()).rescueDue())
                    .isFalse();
        });
    }
}

package io.carillon.it.lostanswer;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.QueueLimits;
import io.carillon.internal.run.Attempt;
import io.carillon.internal.store.Storage;
import io.carillon.internal.store.run.ClaimRequest;
import io.carillon.internal.store.run.OwnedRun;
import io.carillon.it.fixture.PostgresStoreFixture;
import io.carillon.it.fixture.RunSpec;
import io.carillon.run.Priority;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Supplier;

/**
 * For each statement about leases held by processes without a node: a call that sends it, and a check that it took
 * effect once.
 */
final class LostLeaseCases extends LostCases {
    LostLeaseCases(PostgresStoreFixture fixture, Storage through) {
        super(fixture, through);
    }

    @Override
    Map<String, Supplier<LostAnswer>> cases() {
        return Map.of(
                "NodeRepository.RENEW_LEASE", this::renew,
                "RunRepository.CLAIM_RUN", this::claim,
                "LaneLimits.CLAIM_LIMITED_RUN", this::claimLimited);
    }

    private LostAnswer renew() {
        enqueue(RunSpec.mail(), 1);
        UUID owner = UUID.randomUUID();
        Attempt attempt = lease(owner, 1, MINUTE).get(0);
        List<OwnedRun> held = List.of(new OwnedRun(PROJECT, attempt.run(), attempt.number()));
        advance(Duration.ofSeconds(30));
        return LostAnswer.of(() -> faultyStorage.nodes().renewLeases(owner, held, MINUTE), lost -> {
            assertThat(lost).isEqualTo(List.of());
            assertThat(fixture.query("SELECT leased_until - carillon.clock() FROM carillon.run")
                            .texts())
                    .containsExactly("00:01:00");
        });
    }

    private LostAnswer claim() {
        ClaimRequest request = requestOfNewRun();
        return LostAnswer.of(() -> faultyStorage.runs().claim(request).attempts(), this::assertLeasedOnce);
    }

    private LostAnswer claimLimited() {
        storage().lanes().limit(RunSpec.MAIL, QueueLimits.maxRunning(1));
        ClaimRequest request = requestOfNewRun();
        return LostAnswer.of(() -> faultyStorage.lanes().claim(request).attempts(), this::assertLeasedOnce);
    }

    private ClaimRequest requestOfNewRun() {
        return ClaimRequest.ofRun(UUID.randomUUID(), RunSpec.MAIL, Priority.NORMAL, enqueue(RunSpec.mail()), MINUTE);
    }

    /** The second call finds the run claimed, which is due again after the lease. */
    private void assertLeasedOnce(Object answer) {
        assertThat(answer).isEqualTo(List.of());
        assertThat(fixture.query("SELECT attempt || ' ' || (leased_until - carillon.clock()) FROM carillon.run")
                        .texts())
                .containsExactly("1 00:01:00");
    }
}

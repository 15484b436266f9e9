package io.carillon.it.lostanswer;

import static java.util.Map.entry;
import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.internal.run.Attempt;
import io.carillon.internal.run.NewRun;
import io.carillon.internal.run.Transition;
import io.carillon.internal.store.Storage;
import io.carillon.internal.store.run.GateName;
import io.carillon.it.fixture.PostgresStoreFixture;
import io.carillon.it.fixture.RunSpec;
import io.carillon.it.fixture.ScheduleSpec;
import io.carillon.run.EnqueueResult;
import io.carillon.schedule.OverlapPolicy;
import io.carillon.schedule.SchedulePolicies;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Supplier;

/** For each writing statement about gates: a call that sends it, and a check that it took effect once. */
final class LostGateCases extends LostCases {
    private static final Duration TEN = Duration.ofSeconds(10);
    private static final RunSpec GATED = RunSpec.mail().concurrencyKey("shop", 1);

    LostGateCases(PostgresStoreFixture fixture, Storage through) {
        super(fixture, through);
    }

    @Override
    Map<String, Supplier<LostAnswer>> cases() {
        return Map.ofEntries(
                entry("GateRepository.MARK_ARRIVED", this::arrive),
                entry("GateRepository.PASS", this::pass),
                entry("GatedRunInsert.INSERT_GATED", this::insert),
                entry("RateGates.PASS", this::letStart),
                entry("OverlapGates.CANCEL_IDLE", this::cancelIdle),
                entry("OverlapGates.CANCEL_RUNNING", this::cancelRunning),
                entry(
                        "OverlapGates.DROP",
                        () -> secondInstant(OverlapPolicy.SKIP, "skipped overlap: an earlier run had not ended")),
                entry("OverlapGates.KEEP_WAITING", () -> secondInstant(OverlapPolicy.QUEUE_ALL, "waiting gate")),
                entry("OverlapGates.PASS", this::letThrough));
    }

    private LostAnswer insert() {
        NewRun run = GATED.run();
        return LostAnswer.of(() -> faultyStorage.newRuns().enqueue(List.of(run)), answer -> {
            assertThat(answer).isEqualTo(List.of(new EnqueueResult.Enqueued(run.id())));
            passGates();
            assertThat(claim(node(), 9)).hasSize(1);
        });
    }

    private LostAnswer arrive() {
        enqueue(GATED.after(TEN), 2);
        advance(TEN);
        return LostAnswer.of(() -> faultyStorage.gates().findArrivals(10), answer -> {
            assertThat(passGates()).containsExactly(RunSpec.MAIL);
            assertThat(claim(node(), 9)).hasSize(1);
        });
    }

    private LostAnswer pass() {
        enqueue(GATED, 3);
        GateName shop = new GateName(PROJECT, "concurrency:shop");
        return LostAnswer.of(
                () -> faultyStorage.gates().promote(List.of(shop)),
                answer -> assertThat(claim(node(), 9)).hasSize(1));
    }

    private LostAnswer letStart() {
        enqueue(RunSpec.mail().rateKey("shop", 2, TEN), 5);
        GateName shop = new GateName(PROJECT, "rate:10000:shop");
        return LostAnswer.of(
                () -> faultyStorage.gates().promote(List.of(shop)),
                answer -> assertThat(claim(node(), 9)).hasSize(2));
    }

    private GateName scheduled(OverlapPolicy overlapPolicy) {
        UUID id = store(ScheduleSpec.every(TEN)
                        .policies(SchedulePolicies.defaults().overlap(overlapPolicy)))
                .id()
                .value();
        advance(TEN);
        return new GateName(PROJECT, "overlap:" + id);
    }

    private LostAnswer letThrough() {
        GateName gate = scheduled(OverlapPolicy.SKIP);
        return LostAnswer.of(
                () -> faultyStorage.gates().promote(List.of(gate)),
                answer -> assertThat(runDue(node())).containsExactly(at(10)));
    }

    /** The second instant becomes due while the first runs; {@code fate} is its ledger line after the promotion. */
    private LostAnswer secondInstant(OverlapPolicy overlapPolicy, String fate) {
        GateName gate = scheduled(overlapPolicy);
        storage().gates().promote(List.of(gate));
        claimOne(node());
        advance(TEN);
        return LostAnswer.of(
                () -> faultyStorage.gates().promote(List.of(gate)),
                answer -> assertThat(lines("report")).contains("12:00:20 " + fate));
    }

    private LostAnswer cancelRunning() {
        GateName gate = scheduled(OverlapPolicy.CANCEL_PREVIOUS);
        storage().gates().promote(List.of(gate));
        UUID node = node();
        claimOne(node);
        advance(TEN);
        return LostAnswer.of(
                () -> faultyStorage.gates().promote(List.of(gate)),
                answer -> assertThat(storage()
                                .nodes()
                                .recordHeartbeat(node, 1, List.of())
                                .cancelRequests())
                        .hasSize(1));
    }

    private LostAnswer cancelIdle() {
        GateName gate = scheduled(OverlapPolicy.CANCEL_PREVIOUS);
        storage().gates().promote(List.of(gate));
        UUID node = node();
        Attempt first = claimOne(node);
        apply(node, first, new Transition.Retry(Duration.ofHours(1), "not now", false));
        advance(TEN);
        return LostAnswer.of(() -> faultyStorage.gates().promote(List.of(gate)), answer -> {
            passGates();
            assertThat(runDue(node)).containsExactly(at(20));
            assertThat(lines("report")).contains("12:00:10 cancelled overlap: a newer run took its place");
        });
    }
}

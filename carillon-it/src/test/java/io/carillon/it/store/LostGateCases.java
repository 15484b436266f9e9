package io.carillon.it.store;

import static java.util.Map.entry;
import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.run.Attempt;
import io.carillon.run.EnqueueResult;
import io.carillon.run.NewRun;
import io.carillon.run.Transition;
import io.carillon.schedule.Overlap;
import io.carillon.schedule.Policies;
import io.carillon.store.GateName;
import io.carillon.store.Storage;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Supplier;

/** For each writing statement about gates: a deed that sends it, and the one effect it must have. */
final class LostGateCases extends LostCases {
    private static final Duration TEN = Duration.ofSeconds(10);
    private static final Order GATED = Order.mail().concurrencyKey("shop", 1);

    LostGateCases(PostgresBench bench, Storage through) {
        super(bench, through);
    }

    @Override
    Map<String, Supplier<LostAnswer>> cases() {
        return Map.ofEntries(
                entry("GateRepository.ARRIVE", this::arrive),
                entry("GateRepository.PASS", this::pass),
                entry("GatedInbox.INSERT_GATED", this::insert),
                entry("RateGates.LET_START", this::letStart),
                entry("OverlapGates.CANCEL_IDLE", this::cancelIdle),
                entry("OverlapGates.CANCEL_RUNNING", this::cancelRunning),
                entry("OverlapGates.DROP", () -> second(Overlap.SKIP, "skipped overlap: an earlier run had not ended")),
                entry("OverlapGates.KEEP_WAITING", () -> second(Overlap.QUEUE_ALL, "waiting gate")),
                entry("OverlapGates.LET_THROUGH", this::letThrough));
    }

    private LostAnswer insert() {
        NewRun run = GATED.run();
        return LostAnswer.of(() -> through.inbox().enqueue(List.of(run)), answer -> {
            assertThat(answer).isEqualTo(List.of(new EnqueueResult.Enqueued(run.id())));
            passGates();
            assertThat(claim(node(), 9)).hasSize(1);
        });
    }

    private LostAnswer arrive() {
        enqueue(GATED.after(TEN), 2);
        advance(TEN);
        return LostAnswer.of(() -> through.gates().arrive(10), answer -> {
            assertThat(passGates()).containsExactly(Order.MAIL);
            assertThat(claim(node(), 9)).hasSize(1);
        });
    }

    private LostAnswer pass() {
        enqueue(GATED, 3);
        GateName shop = new GateName(PROJECT, "concurrency:shop");
        return LostAnswer.of(
                () -> through.gates().pass(List.of(shop)),
                answer -> assertThat(claim(node(), 9)).hasSize(1));
    }

    private LostAnswer letStart() {
        enqueue(Order.mail().rateKey("shop", 2, TEN), 5);
        GateName shop = new GateName(PROJECT, "rate:10000:shop");
        return LostAnswer.of(
                () -> through.gates().pass(List.of(shop)),
                answer -> assertThat(claim(node(), 9)).hasSize(2));
    }

    private GateName scheduled(Overlap overlap) {
        UUID id = store(Promise.every(TEN).policies(Policies.defaults().overlap(overlap)))
                .id()
                .value();
        advance(TEN);
        return new GateName(PROJECT, "overlap:" + id);
    }

    private LostAnswer letThrough() {
        GateName gate = scheduled(Overlap.SKIP);
        return LostAnswer.of(
                () -> through.gates().pass(List.of(gate)),
                answer -> assertThat(runDue(node())).containsExactly(at(10)));
    }

    /** The second instant falls due while the first runs. */
    private LostAnswer second(Overlap overlap, String fate) {
        GateName gate = scheduled(overlap);
        storage().gates().pass(List.of(gate));
        claimOne(node());
        advance(TEN);
        return LostAnswer.of(
                () -> through.gates().pass(List.of(gate)),
                answer -> assertThat(lines("report")).contains("12:00:20 " + fate));
    }

    private LostAnswer cancelRunning() {
        GateName gate = scheduled(Overlap.CANCEL_PREVIOUS);
        storage().gates().pass(List.of(gate));
        UUID node = node();
        claimOne(node);
        advance(TEN);
        return LostAnswer.of(
                () -> through.gates().pass(List.of(gate)),
                answer -> assertThat(storage().nodes().beat(node, 1, List.of()).cancels())
                        .hasSize(1));
    }

    private LostAnswer cancelIdle() {
        GateName gate = scheduled(Overlap.CANCEL_PREVIOUS);
        storage().gates().pass(List.of(gate));
        UUID node = node();
        Attempt first = claimOne(node);
        apply(node, first, new Transition.Retry(Duration.ofHours(1), "not now", false));
        advance(TEN);
        return LostAnswer.of(() -> through.gates().pass(List.of(gate)), answer -> {
            passGates();
            assertThat(runDue(node)).containsExactly(at(20));
            assertThat(lines("report")).contains("12:00:10 cancelled overlap: a newer run took its place");
        });
    }
}

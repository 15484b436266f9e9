package io.carillon.it.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.run.Attempt;
import io.carillon.store.HeldRun;
import io.carillon.store.Storage;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Supplier;

/** For each statement about leases of processes that are no nodes: a call that sends it, and the one effect it must have. */
final class LostLeaseCases extends LostCases {
    LostLeaseCases(PostgresBench bench, Storage through) {
        super(bench, through);
    }

    @Override
    Map<String, Supplier<LostAnswer>> cases() {
        return Map.of("NodeRepository.RENEW_LEASE", () -> {
            enqueue(Order.mail(), 1);
            UUID owner = UUID.randomUUID();
            Attempt attempt = lease(owner, 1, MINUTE).get(0);
            List<HeldRun> held = List.of(new HeldRun(PROJECT, attempt.run(), attempt.number()));
            advance(Duration.ofSeconds(30));
            return LostAnswer.of(() -> through.nodes().renew(owner, held, MINUTE), lost -> {
                assertThat(lost).isEqualTo(List.of());
                assertThat(bench.rows().texts("SELECT leased_until - carillon.clock() FROM carillon.run"))
                        .containsExactly("00:01:00");
            });
        });
    }
}

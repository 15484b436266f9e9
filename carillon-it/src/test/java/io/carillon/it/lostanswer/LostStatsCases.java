package io.carillon.it.lostanswer;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.Stats.RunStats.Count;
import io.carillon.internal.store.Storage;
import io.carillon.internal.store.stats.DurationHistogram;
import io.carillon.internal.store.stats.StatsRow;
import io.carillon.it.fixture.PostgresStoreFixture;
import io.carillon.it.fixture.StoreFixture;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Supplier;

/** For each statement that writes statistics: a call that sends it, and a check that it took effect once. */
final class LostStatsCases extends LostCases {
    LostStatsCases(PostgresStoreFixture fixture, Storage through) {
        super(fixture, through);
    }

    @Override
    Map<String, Supplier<LostAnswer>> cases() {
        return Map.of(
                "StatsRepository.WRITE", this::write,
                "StatsRepository.COMPUTE_HOUR", this::computeHour,
                "StatsRepository.REMOVE_MINUTES", this::remove,
                "StatsRepository.REMOVE_HOURS", this::remove);
    }

    private static StatsRow row() {
        return new StatsRow(
                new StatsRow.Key(new UUID(1, 1), StoreFixture.NOON, PROJECT, "mail", "mail"),
                1,
                Map.of(Count.SUCCEEDED, 3L),
                new StatsRow.Durations(
                        DurationHistogram.EMPTY, DurationHistogram.EMPTY, new DurationHistogram(900, List.of(3L))));
    }

    private LostAnswer write() {
        return LostAnswer.of(
                call(() -> faultyStorage.stats().write(List.of(row()))), answer -> assertSum("stats_minute", 3));
    }

    private LostAnswer computeHour() {
        storage().stats().write(List.of(row()));
        advance(Duration.ofHours(1));
        return LostAnswer.of(() -> faultyStorage.stats().computeHours(), answer -> assertSum("stats_hour", 3));
    }

    private LostAnswer remove() {
        storage().stats().write(List.of(row()));
        advance(Duration.ofHours(1));
        storage().stats().computeHours();
        return LostAnswer.of(() -> faultyStorage.stats().removeOlder(Duration.ZERO, Duration.ZERO), answer -> {
            assertSum("stats_minute", 0);
            assertSum("stats_hour", 0);
        });
    }

    private void assertSum(String table, long succeeded) {
        assertThat(fixture.query("SELECT coalesce(sum(succeeded), 0) FROM carillon." + table)
                        .number())
                .isEqualTo(succeeded);
    }
}

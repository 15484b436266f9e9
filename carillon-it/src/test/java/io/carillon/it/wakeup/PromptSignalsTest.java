package io.carillon.it.wakeup;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.postgres.PostgresStorage;
import io.carillon.schedule.TickPlanner;
import io.carillon.store.Signal;
import io.carillon.store.WakeChannel;
import io.carillon.testkit.TestDatabase;
import java.time.Duration;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** The driver waits a millisecond for another signal before it hands over the first. Not where a node listens. */
class PromptSignalsTest {
    @Test
    void a_signal_is_heard_in_less_than_the_millisecond_that_the_driver_waits() {
        try (TestDatabase database = TestDatabase.migrated()) {
            WakeChannel channel = new PostgresStorage(database.dataSource(), TickPlanner.defaults()).wake();
            WakeChannel.Ear ear = channel.listen().orElseThrow();
            try {
                long quickest = LongStream.generate(() -> heardAfter(channel, ear))
                        .limit(300)
                        .min()
                        .orElseThrow();

                assertThat(Duration.ofNanos(quickest)).isLessThan(Duration.ofMillis(1));
            } finally {
                ear.close();
            }
        }
    }

    private static long heardAfter(WakeChannel channel, WakeChannel.Ear ear) {
        channel.send(List.of(new Signal.Look()));
        long sent = System.nanoTime();
        assertThat(ear.await(Duration.ofSeconds(10))).hasSize(1);
        return System.nanoTime() - sent;
    }
}

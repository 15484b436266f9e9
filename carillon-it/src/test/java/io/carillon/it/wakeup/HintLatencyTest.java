package io.carillon.it.wakeup;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.internal.postgres.PostgresStorage;
import io.carillon.internal.schedule.TickPlanner;
import io.carillon.internal.store.node.Hint;
import io.carillon.internal.store.node.WakeChannel;
import io.carillon.testkit.TestDatabase;
import java.time.Duration;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/**
 * The driver waits a millisecond for further notifications before it returns the first. The engine avoids this delay.
 */
class HintLatencyTest {
    @Test
    void a_signal_arrives_without_the_drivers_delay_of_one_millisecond() {
        try (TestDatabase database = TestDatabase.migrated()) {
            WakeChannel channel = new PostgresStorage(database.dataSource(), TickPlanner.defaults()).wake();
            WakeChannel.Subscription subscription = channel.listen().orElseThrow();
            try {
                long quickest = LongStream.generate(() -> nanosUntilReceived(channel, subscription))
                        .limit(300)
                        .min()
                        .orElseThrow();

                assertThat(Duration.ofNanos(quickest)).isLessThan(Duration.ofMillis(1));
            } finally {
                subscription.close();
            }
        }
    }

    private static long nanosUntilReceived(WakeChannel channel, WakeChannel.Subscription subscription) {
        channel.send(List.of(new Hint.CheckAll()));
        long sent = System.nanoTime();
        assertThat(subscription.await(Duration.ofSeconds(10))).hasSize(1);
        return System.nanoTime() - sent;
    }
}

package io.carillon.webhook.hosts;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.webhook.hosts.HostBook.Entry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class HostBookTest {
    private static final HostLimits LIMITS =
            new HostLimits(2, 4, Duration.ofMinutes(1), Duration.ofSeconds(30), Duration.ofMinutes(2));
    private long now = 1_000;
    private final HostBook book = new HostBook(LIMITS, () -> now);

    @Test
    void so_many_at_a_time_and_no_more() {
        Entry.Enter first = entered("a");
        entered("a");

        assertThat(book.enter("a")).isInstanceOf(Entry.Wait.class);
        entered("b");
        first.leave(false, Duration.ZERO);
        entered("a");
    }

    @Test
    void half_of_enough_failures_open_the_breaker_and_one_probe_closes_it() {
        fails(2);
        succeeds(2);

        assertThat(waits()).isBetween(Duration.ofSeconds(30), Duration.ofSeconds(38));
        pass(Duration.ofSeconds(30));
        Entry.Enter probe = entered("a");
        assertThat(book.enter("a")).as("only one tries").isInstanceOf(Entry.Wait.class);
        probe.leave(false, Duration.ZERO);
        entered("a");
        entered("a");
    }

    @Test
    void fewer_failures_than_half_or_too_few_attempts_leave_it_closed() {
        fails(1);
        succeeds(3);
        fails(1);

        entered("a");
    }

    @Test
    void failures_of_long_ago_are_forgotten() {
        fails(3);
        pass(Duration.ofSeconds(61));
        fails(3);

        entered("a");
    }

    @Test
    void each_probe_that_fails_doubles_the_pause_up_to_the_longest() {
        fails(4);
        List<Duration> pauses = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            Duration pause = waits();
            pauses.add(Duration.ofSeconds(pause.toSeconds() * 4 / 5 / 10 * 10));
            pass(Duration.ofMinutes(2));
            entered("a").leave(true, Duration.ZERO);
        }

        assertThat(pauses.get(0)).isLessThan(pauses.get(1));
        assertThat(pauses.get(1)).isLessThan(pauses.get(2));
        assertThat(waits()).isBetween(Duration.ofMinutes(2), Duration.ofMinutes(3));
    }

    @Test
    void a_pause_the_host_asked_for_holds_for_all() {
        entered("a").leave(false, Duration.ofMinutes(5));

        assertThat(waits()).isGreaterThanOrEqualTo(Duration.ofMinutes(5));
        pass(Duration.ofMinutes(5));
        entered("a");
    }

    @Test
    void a_host_that_is_idle_and_well_is_forgotten() {
        entered("a").leave(false, Duration.ZERO);

        assertThat(book.size()).isZero();
    }

    @Test
    void it_does_not_grow_with_every_host_that_ever_failed() {
        for (int i = 0; i < 30_000; i++) {
            entered("host-" + i).leave(true, Duration.ZERO);
            pass(Duration.ofSeconds(1));
        }

        assertThat(book.size()).isLessThanOrEqualTo(10_000);
    }

    private void fails(int times) {
        for (int i = 0; i < times; i++) entered("a").leave(true, Duration.ZERO);
    }

    private void succeeds(int times) {
        for (int i = 0; i < times; i++) entered("a").leave(false, Duration.ZERO);
    }

    private Entry.Enter entered(String host) {
        Entry entry = book.enter(host);
        assertThat(entry).isInstanceOf(Entry.Enter.class);
        return (Entry.Enter) entry;
    }

    private Duration waits() {
        Entry entry = book.enter("a");
        assertThat(entry).isInstanceOf(Entry.Wait.class);
        return ((Entry.Wait) entry).pause();
    }

    private void pass(Duration time) {
        now += time.toNanos();
    }
}

package io.carillon.webhook.hosts;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.webhook.hosts.HostLimiter.Admission;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class HostLimiterTest {
    private static final HostLimits LIMITS = HostLimits.defaults()
            .concurrency(2)
            .requests(4, Duration.ofMinutes(1))
            .pause(Duration.ofSeconds(30), Duration.ofMinutes(2));
    private long now = 1_000;
    private final HostLimiter limiter = new HostLimiter(LIMITS, () -> now);

    @Test
    void changing_a_limit_keeps_the_others() {
        assertThat(LIMITS)
                .isEqualTo(new HostLimits(2, 4, Duration.ofMinutes(1), Duration.ofSeconds(30), Duration.ofMinutes(2)));
        assertThat(HostLimits.defaults().concurrency(2).concurrency(10)).isEqualTo(HostLimits.defaults());
    }

    @Test
    void limits_concurrent_requests_to_one_host() {
        Admission.Admitted first = admitted("a");
        admitted("a");

        assertThat(limiter.tryAcquire("a")).isInstanceOf(Admission.Deferred.class);
        admitted("b");
        first.release(false, Duration.ZERO);
        admitted("a");
    }

    @Test
    void half_of_enough_failures_open_the_breaker_and_one_probe_closes_it() {
        fails(2);
        succeeds(2);

        assertThat(deferredFor()).isBetween(Duration.ofSeconds(30), Duration.ofSeconds(38));
        advance(Duration.ofSeconds(30));
        Admission.Admitted probe = admitted("a");
        assertThat(limiter.tryAcquire("a")).as("only one probe").isInstanceOf(Admission.Deferred.class);
        probe.release(false, Duration.ZERO);
        admitted("a");
        admitted("a");
    }

    @Test
    void fewer_failures_than_half_or_too_few_attempts_leave_it_closed() {
        fails(1);
        succeeds(3);
        fails(1);

        admitted("a");
    }

    @Test
    void failures_of_long_ago_are_forgotten() {
        fails(3);
        advance(Duration.ofSeconds(61));
        fails(3);

        admitted("a");
    }

    @Test
    void each_probe_that_fails_doubles_the_pause_up_to_the_longest() {
        fails(4);
        List<Duration> pauses = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            Duration pause = deferredFor();
            pauses.add(Duration.ofSeconds(pause.toSeconds() * 4 / 5 / 10 * 10));
            advance(Duration.ofMinutes(2));
            admitted("a").release(true, Duration.ZERO);
        }

        assertThat(pauses.get(0)).isLessThan(pauses.get(1));
        assertThat(pauses.get(1)).isLessThan(pauses.get(2));
        assertThat(deferredFor()).isBetween(Duration.ofMinutes(2), Duration.ofMinutes(3));
    }

    @Test
    void a_pause_the_host_asked_for_holds_for_all() {
        admitted("a").release(false, Duration.ofMinutes(5));

        assertThat(deferredFor()).isGreaterThanOrEqualTo(Duration.ofMinutes(5));
        advance(Duration.ofMinutes(5));
        admitted("a");
    }

    @Test
    void a_request_that_was_not_sent_does_not_count() {
        for (int i = 0; i < 10; i++) admitted("a").cancel();
        assertThat(limiter.size()).as("stored hosts").isZero();
        fails(4);
        advance(Duration.ofSeconds(30));
        admitted("a").cancel();

        Admission.Admitted probe = admitted("a");
        assertThat(probe.probe()).as("a probe that was not sent is repeated").isTrue();
        probe.release(false, Duration.ZERO);
        admitted("a");
        admitted("a");
    }

    @Test
    void an_idle_healthy_host_is_removed() {
        admitted("a").release(false, Duration.ZERO);

        assertThat(limiter.size()).isZero();
    }

    @Test
    void it_does_not_grow_with_every_host_that_ever_failed() {
        for (int i = 0; i < 30_000; i++) {
            admitted("host-" + i).release(true, Duration.ZERO);
            advance(Duration.ofSeconds(1));
        }

        assertThat(limiter.size()).isLessThanOrEqualTo(10_000);
    }

    private void fails(int times) {
        for (int i = 0; i < times; i++) admitted("a").release(true, Duration.ZERO);
    }

    private void succeeds(int times) {
        for (int i = 0; i < times; i++) admitted("a").release(false, Duration.ZERO);
    }

    private Admission.Admitted admitted(String host) {
        Admission admission = limiter.tryAcquire(host);
        assertThat(admission).isInstanceOf(Admission.Admitted.class);
        return (Admission.Admitted) admission;
    }

    private Duration deferredFor() {
        Admission admission = limiter.tryAcquire("a");
        assertThat(admission).isInstanceOf(Admission.Deferred.class);
        return ((Admission.Deferred) admission).pause();
    }

    private void advance(Duration time) {
        now += time.toNanos();
    }
}

package io.carillon.webhook.hosts;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.webhook.hosts.HostLimiter.Admission;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
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

        assertThat(limiter.tryAcquire(host("a"), true)).isInstanceOf(Admission.Deferred.class);
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
        assertThat(limiter.tryAcquire(host("a"), true)).as("only one probe").isInstanceOf(Admission.Deferred.class);
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

    @Test
    void unused_hosts_are_removed_once_a_second_and_not_at_each_request() {
        for (int i = 0; i < 12_000; i++) admitted("host-" + i).release(false, Duration.ofMillis(100));
        advance(Duration.ofMillis(200));
        admitted("a").release(false, Duration.ZERO);
        assertThat(limiter.size()).isGreaterThanOrEqualTo(12_000);

        advance(Duration.ofSeconds(1));
        admitted("a").release(false, Duration.ZERO);
        assertThat(limiter.size()).isZero();
    }

    @Test
    void the_first_parked_request_becomes_the_probe_and_the_others_return_after_it_one_by_one() {
        fails(4);

        List<Duration> pauses = new ArrayList<>();
        for (int i = 0; i < 1_000; i++) pauses.add(deferredFor());

        assertThat(pauses.get(0)).isEqualTo(Duration.ofSeconds(30));
        assertThat(pauses.get(1)).isEqualTo(Duration.ofSeconds(31));
        assertThat(pauses).isSorted().doesNotHaveDuplicates();
        assertThat(pauses.get(999)).isEqualTo(Duration.ofMillis(31_000 + 998 * 10));
    }

    @Test
    void a_request_that_comes_while_the_probe_is_not_answered_waits_as_long_as_the_breaker_was_open() {
        fails(4);
        advance(Duration.ofSeconds(30));
        Admission.Admitted probe = admitted("a");

        assertThat(deferredFor()).isEqualTo(Duration.ofSeconds(31));
        advance(Duration.ofSeconds(20));
        assertThat(deferredFor()).isEqualTo(Duration.ofSeconds(31));

        probe.release(true, Duration.ZERO);
        assertThat(deferredFor()).as("the next probe").isEqualTo(Duration.ofSeconds(60));
    }

    @Test
    void parked_requests_return_at_the_same_rate_however_often_the_breaker_opens() {
        fails(4);
        for (int i = 0; i < 10_000; i++) deferredFor();
        advance(Duration.ofSeconds(30));
        admitted("a").release(true, Duration.ZERO);

        assertThat(deferredFor()).as("the next probe").isEqualTo(Duration.ofSeconds(60));
        assertThat(deferredFor()).as("after those that were parked before").isGreaterThan(Duration.ofSeconds(100));
        for (int i = 0; i < 500_000; i++) deferredFor();
        assertThat(deferredFor()).as("the longest pause").isEqualTo(Duration.ofHours(1));
    }

    @Test
    void a_request_to_an_endpoint_neither_waits_for_the_breaker_nor_counts_for_it() {
        for (int i = 0; i < 10; i++) endpointRequest().release(true, Duration.ZERO);
        assertThat(limiter.openBreakers()).isEmpty();
        fails(4);
        Admission.Admitted sent = endpointRequest();
        sent.release(false, Duration.ZERO);

        assertThat(deferredFor()).as("the breaker is open").isEqualTo(Duration.ofSeconds(30));
        endpointRequest().release(true, Duration.ofMinutes(5));
        assertThat(limiter.tryAcquire(host("a"), false))
                .as("a pause that the host asked for")
                .isInstanceOf(Admission.Deferred.class);
    }

    @Test
    void open_breakers_are_listed_with_the_time_of_their_probe_until_the_host_works_or_is_not_called_anymore() {
        assertThat(limiter.parkIfOpen(host("a"))).isEmpty();
        fails(4);
        assertThat(limiter.parkIfOpen(host("a"))).isPresent();
        assertThat(limiter.parkIfOpen(host("b"))).isEmpty();
        advance(Duration.ofSeconds(10));
        assertThat(limiter.openBreakers()).isEqualTo(Map.of(host("a"), Duration.ofSeconds(20)));

        advance(Duration.ofSeconds(20));
        assertThat(limiter.parkIfOpen(host("a"))).as("a probe is due").isEmpty();
        assertThat(limiter.openBreakers()).isEqualTo(Map.of(host("a"), Duration.ZERO));
        admitted("a").release(false, Duration.ZERO);
        assertThat(limiter.openBreakers()).isEmpty();

        fails(4);
        advance(Duration.ofMinutes(5));
        assertThat(limiter.openBreakers()).as("nothing calls the host").isEmpty();
    }

    private static ProjectHost host(String name) {
        return new ProjectHost("shop", name);
    }

    private Admission.Admitted endpointRequest() {
        return (Admission.Admitted) limiter.tryAcquire(host("a"), false);
    }

    private void fails(int times) {
        for (int i = 0; i < times; i++) admitted("a").release(true, Duration.ZERO);
    }

    private void succeeds(int times) {
        for (int i = 0; i < times; i++) admitted("a").release(false, Duration.ZERO);
    }

    private Admission.Admitted admitted(String host) {
        Admission admission = limiter.tryAcquire(host(host), true);
        assertThat(admission).isInstanceOf(Admission.Admitted.class);
        return (Admission.Admitted) admission;
    }

    private Duration deferredFor() {
        Admission admission = limiter.tryAcquire(host("a"), true);
        assertThat(admission).isInstanceOf(Admission.Deferred.class);
        return ((Admission.Deferred) admission).pause();
    }

    private void advance(Duration time) {
        now += time.toNanos();
    }
}

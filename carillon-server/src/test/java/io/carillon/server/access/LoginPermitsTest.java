package io.carillon.server.access;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Logins that fail take few permits, and leave the others to other networks. */
class LoginPermitsTest {
    private final LoginPermits permits = new LoginPermits();

    private List<LoginPermits.Permit> takeAll(String address, int count) {
        List<LoginPermits.Permit> taken = new ArrayList<>();
        for (int i = 0; i < count; i++) permits.take(address).ifPresent(taken::add);
        return taken;
    }

    @Test
    void a_network_with_many_failed_logins_leaves_permits_to_others() {
        for (int i = 0; i < 30; i++) permits.countFailure("192.0.2.1");

        List<LoginPermits.Permit> suspect = takeAll("192.0.2.1", 8);

        assertThat(suspect).hasSize(2);
        assertThat(takeAll("192.0.2.2", 8)).hasSize(8);
        suspect.get(0).release();
        assertThat(permits.take("192.0.2.1")).isPresent();
    }

    @Test
    void an_ipv6_network_is_counted_as_one() {
        for (int i = 0; i < 30; i++) permits.countFailure("2001:db8::" + Integer.toHexString(i + 1));

        assertThat(takeAll("2001:db8::ffff", 8)).hasSize(2);
        assertThat(takeAll("2001:db8:0:1::1", 8)).hasSize(8);
    }

    @Test
    void few_failures_change_nothing() {
        for (int i = 0; i < 15; i++) permits.countFailure("192.0.2.1");

        assertThat(takeAll("192.0.2.1", 8)).hasSize(8);
    }
}

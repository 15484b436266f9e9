package io.carillon.server.access;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Failed requests are counted by the network of the client. */
class ClientNetworkTest {
    @Test
    void an_ipv6_client_is_counted_by_its_first_64_bits() {
        assertThat(ClientNetwork.of("2001:db8:1:2:3:4:5:6")).isEqualTo(ClientNetwork.of("2001:db8:1:2::9"));
        assertThat(ClientNetwork.of("[2001:db8:1:2::9]")).isEqualTo(ClientNetwork.of("2001:db8:1:2::9"));
        assertThat(ClientNetwork.of("fe80::1%eth0")).isEqualTo(ClientNetwork.of("fe80::2%lo"));
        assertThat(ClientNetwork.of("2001:db8:1:2::9")).isNotEqualTo(ClientNetwork.of("2001:db8:1:3::9"));
    }

    @Test
    void an_ipv4_client_is_counted_by_its_address() {
        assertThat(ClientNetwork.of("192.0.2.7")).isNotEqualTo(ClientNetwork.of("192.0.2.8"));
        assertThat(ClientNetwork.of("::ffff:192.0.2.7")).isEqualTo(ClientNetwork.of("192.0.2.7"));
        assertThat(ClientNetwork.of("unknown")).isEqualTo("unknown");
    }

    @Test
    void a_client_that_changes_its_ipv6_address_is_slowed_down() {
        GuessLimiter guesses = new GuessLimiter();
        boolean slowed = false;
        for (int i = 0; i < 60 && !slowed; i++)
            slowed = guesses.count("2001:db8:1:2::" + Integer.toHexString(i)).isPresent();
        assertThat(slowed).isTrue();
        assertThat(guesses.count("2001:db8:1:2::ffff"))
                .hasValueSatisfying(problem -> assertThat(problem.status()).isEqualTo(429));
        assertThat(guesses.count("2001:db8:1:3::1")).isEmpty();
    }
}

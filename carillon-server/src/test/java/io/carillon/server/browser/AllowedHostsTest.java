package io.carillon.server.browser;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.carillon.CarillonException;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The host names that a server answers for. */
class AllowedHostsTest {
    @Test
    void addresses_localhost_the_listen_host_and_listed_names_are_allowed() {
        AllowedHosts hosts = new AllowedHosts("Inner", List.of("Carillon.example"));
        for (String header : List.of(
                "localhost",
                "LOCALHOST:8080",
                "a.localhost:1",
                "127.0.0.1:8080",
                "10.1.2.3",
                "[::1]:8080",
                "[fe80::1]",
                "inner:8080",
                "carillon.EXAMPLE:443",
                "carillon.example.",
                "")) assertThat(hosts.test(header)).as(header).isTrue();
        for (String header : List.of(
                "evil.example",
                "evil.example:8080",
                "carillon.example.evil.example",
                "localhost.evil.example",
                "127.0.0.1.evil.example",
                "evil.example#localhost",
                "2130706433",
                "evil]")) assertThat(hosts.test(header)).as(header).isFalse();
    }

    @Test
    void an_asterisk_allows_all_names_and_other_text_is_refused() {
        assertThat(new AllowedHosts("", List.of("*")).test("any.example")).isTrue();
        for (String name : List.of("a:80", "http://a", "a b", "", "*.a"))
            assertThatThrownBy(() -> new AllowedHosts("", List.of(name)))
                    .as(name)
                    .isInstanceOf(CarillonException.class)
                    .hasMessageContaining("Invalid allowed host");
    }
}

package io.carillon.webhook.guard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.carillon.CarillonException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class AddressGuardTest {
    @Test
    void public_answers_pass_all_of_them_in_order() {
        AddressGuard addressGuard = guard(AddressPolicy.defaults(), "8.8.8.8", "2606:4700::1111");

        assertThat(addressGuard.resolveAllowed(TargetAddress.parse("https://hooks.example/x")))
                .extracting(InetAddress::getHostAddress)
                .containsExactly("8.8.8.8", "2606:4700:0:0:0:0:0:1111");
    }

    @Test
    void one_non_public_answer_blocks_the_host() {
        AddressGuard addressGuard = guard(AddressPolicy.defaults(), "8.8.8.8", "10.0.0.1");

        assertThat(addressGuard.resolveAllowed(TargetAddress.parse("https://hooks.example/")))
                .isEmpty();
    }

    @Test
    void an_unresolvable_name_is_not_allowed() {
        Resolver unknown = host -> {
            throw new UnknownHostException(host);
        };

        assertThat(new AddressGuard(AddressPolicy.defaults(), unknown)
                        .resolveAllowed(TargetAddress.parse("https://hooks.example/")))
                .isEmpty();
        assertThat(guard(AddressPolicy.defaults()).resolveAllowed(TargetAddress.parse("https://hooks.example/")))
                .isEmpty();
    }

    @Test
    void what_the_operator_allows_passes_and_nothing_beside_it() {
        AddressGuard addressGuard =
                guard(AddressPolicy.defaults().allow("hooks.internal:9000", "10.1.0.0/16"), "10.2.0.1");

        assertThat(addressGuard.resolveAllowed(TargetAddress.parse("http://hooks.internal:9000/")))
                .hasSize(1);
        assertThat(addressGuard.resolveAllowed(TargetAddress.parse("http://HOOKS.internal.:9000/")))
                .hasSize(1);
        assertThat(addressGuard.resolveAllowed(TargetAddress.parse("http://hooks.internal:8080/")))
                .isEmpty();
        assertThat(addressGuard.resolveAllowed(TargetAddress.parse("http://x.hooks.internal:9000/")))
                .isEmpty();
        assertThat(addressGuard.resolveAllowed(TargetAddress.parse("http://10.1.255.255:9000/")))
                .hasSize(1);
        assertThat(addressGuard.resolveAllowed(TargetAddress.parse("http://10.2.0.0:9000/")))
                .isEmpty();
    }

    @Test
    void what_the_operator_denies_never_passes() {
        AddressGuard addressGuard = guard(
                AddressPolicy.defaults().allow("hooks.example:443").deny("8.8.8.0/24", "2606:4700::/32"), "8.8.8.8");

        assertThat(addressGuard.resolveAllowed(TargetAddress.parse("https://hooks.example/")))
                .isEmpty();
        assertThat(addressGuard.resolveAllowed(TargetAddress.parse("https://[2606:4700::1]/")))
                .isEmpty();
        assertThat(addressGuard.resolveAllowed(TargetAddress.parse("https://1.1.1.1/")))
                .hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"10.0.0.0/33", "10.0.0/8", "10.0.0.0/", "fd00::/129", "host", "host:", "ho st:80"})
    void a_list_that_cannot_be_read_is_refused(String entry) {
        assertThatThrownBy(() -> AddressPolicy.defaults().allow(entry)).isInstanceOf(CarillonException.class);
    }

    @ParameterizedTest
    @CsvSource({
        "https://Hooks.Example.COM/a?b=c,https://hooks.example.com:443,/a?b=c",
        "HTTP://hooks.example.com:8080,http://hooks.example.com:8080,/",
        "http://hooks.example.com?x=1,http://hooks.example.com:80,/?x=1",
        "https://b\u00FCcher.example/,https://xn--bcher-kva.example:443,/",
        "https://[2606:4700::1111]:8443/,https://[2606:4700:0:0:0:0:0:1111]:8443,/",
        "https://8.8.8.8/x,https://8.8.8.8:443,/x"
    })
    void a_url_is_parsed_in_one_way(String url, String endpoint, String path) {
        assertThat(TargetAddress.parse(url)).hasToString(endpoint);
        assertThat(TargetAddress.parse(url).path()).isEqualTo(path);
    }

    private static AddressGuard guard(AddressPolicy policy, String... answers) {
        return new AddressGuard(
                policy,
                host -> Stream.of(answers)
                        .map(answer -> Cidr.IpLiterals.parse(answer).orElseThrow())
                        .toArray(InetAddress[]::new));
    }
}

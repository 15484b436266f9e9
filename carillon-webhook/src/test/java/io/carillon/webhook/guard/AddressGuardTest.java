package io.carillon.webhook.guard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.carillon.CarillonException;
import java.net.InetAddress;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class AddressGuardTest {
    @Test
    void public_answers_pass_all_of_them_in_order() {
        GuardWithAnswers addressGuard = guard(AddressPolicy.defaults(), "8.8.8.8", "2606:4700::1111");

        assertThat(addressGuard.resolveAllowed(TargetAddress.parse("https://hooks.example/x")))
                .extracting(InetAddress::getHostAddress)
                .containsExactly("8.8.8.8", "2606:4700:0:0:0:0:0:1111");
    }

    @Test
    void one_non_public_answer_blocks_the_host() {
        GuardWithAnswers addressGuard = guard(AddressPolicy.defaults(), "8.8.8.8", "10.0.0.1");

        assertThat(addressGuard.resolveAllowed(TargetAddress.parse("https://hooks.example/")))
                .isEmpty();
    }

    @Test
    void an_unresolvable_name_is_not_allowed() {
        assertThat(guard(AddressPolicy.defaults()).resolveAllowed(TargetAddress.parse("https://hooks.example/")))
                .isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "https://hooks.example:22/",
                "https://hooks.internal/",
                "https://hooks/",
                "https://10.0.0.1/",
                "https://8.8.4.4/",
                "https://[64:ff9b::8.8.4.4]/",
                "https://8.8.8.8:22/"
            })
    void what_the_rules_reject_is_not_resolved(String url) {
        AddressGuard addressGuard = new AddressGuard(AddressPolicy.defaults().deny("8.8.4.0/24"));

        assertThat(addressGuard.decideWithoutResolving(TargetAddress.parse(url)))
                .contains(List.of());
    }

    @Test
    void an_allowed_address_is_not_resolved_and_a_name_that_may_be_allowed_is() {
        AddressGuard defaults = new AddressGuard(AddressPolicy.defaults());
        AddressGuard withHost = new AddressGuard(AddressPolicy.defaults().allow("hooks.internal:9000"));
        AddressGuard withRange = new AddressGuard(AddressPolicy.defaults().allow("10.1.0.0/16"));

        assertThat(defaults.decideWithoutResolving(TargetAddress.parse("https://8.8.8.8/")))
                .hasValueSatisfying(found -> assertThat(found).hasSize(1));
        assertThat(defaults.decideWithoutResolving(TargetAddress.parse("https://hooks.example/")))
                .isEmpty();
        assertThat(withHost.decideWithoutResolving(TargetAddress.parse("http://hooks.internal:9000/")))
                .isEmpty();
        assertThat(withRange.decideWithoutResolving(TargetAddress.parse("http://hooks.internal:9000/")))
                .isEmpty();
    }

    @Test
    void what_the_operator_allows_passes_and_nothing_beside_it() {
        GuardWithAnswers addressGuard =
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
        GuardWithAnswers addressGuard = guard(
                AddressPolicy.defaults().allow("hooks.example:443").deny("8.8.8.0/24", "2606:4700::/32"), "8.8.8.8");

        assertThat(addressGuard.resolveAllowed(TargetAddress.parse("https://hooks.example/")))
                .isEmpty();
        assertThat(addressGuard.resolveAllowed(TargetAddress.parse("https://[2606:4700::1]/")))
                .isEmpty();
        assertThat(addressGuard.resolveAllowed(TargetAddress.parse("https://1.1.1.1/")))
                .hasSize(1);
    }

    /** 198.51.7.9 in every form in which an IPv6 address contains it. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "0:0:0:0:0:ffff:c633:0709", // mapped
                "::c633:0709", // compatible
                "::ffff:0:c633:0709", // translated
                "64:ff9b::c633:0709",
                "64:ff9b:1:c633:0007:0900::", // RFC 8215 with a prefix of 48 bits
                "64:ff9b:1:aac6:0033:0709::", // 56 bits
                "64:ff9b:1:aabb:00c6:3307:0900::", // 64 bits
                "64:ff9b:1:aabb:ccdd:eeff:c633:0709", // 96 bits
                "2002:c633:0709::1", // 6to4
                "2001:0:c633:0709::1", // Teredo server
                "2001:0:808:808::39cc:f8f6", // Teredo client
                "2a00::5efe:c633:0709", // ISATAP
                "2a00::200:5efe:c633:0709"
            })
    void a_denied_ipv4_range_is_denied_inside_ipv6_addresses(String address) {
        // The range in which the form is public or allowed, so that only the denial can block it.
        AddressPolicy policy = AddressPolicy.defaults().allow("::/0", "0.0.0.0/0");

        assertThat(guard(policy, address).resolveAllowed(TargetAddress.parse("https://hooks.example/")))
                .hasSize(1);
        assertThat(guard(policy.deny("198.51.0.0/16"), address)
                        .resolveAllowed(TargetAddress.parse("https://hooks.example/")))
                .isEmpty();
        assertThat(guard(policy.deny("198.52.0.0/16"), address)
                        .resolveAllowed(TargetAddress.parse("https://hooks.example/")))
                .hasSize(1);
    }

    @Test
    void a_mapped_address_as_bytes_is_denied_as_well() {
        byte[] mapped = java.util.HexFormat.of().parseHex("00000000000000000000ffffc6330709");

        assertThat(EmbeddedIpv4.in(mapped)).containsExactly(new byte[] {(byte) 198, 51, 7, 9});
        assertThat(EmbeddedIpv4.in(new byte[] {(byte) 198, 51, 7, 9})).isEmpty();
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

    private static GuardWithAnswers guard(AddressPolicy policy, String... answers) {
        List<InetAddress> addresses = Stream.of(answers)
                .map(answer -> Cidr.IpLiterals.parse(answer).orElseThrow())
                .toList();
        return new GuardWithAnswers(new AddressGuard(policy), addresses);
    }

    /** A guard, and the addresses to which every name resolves. */
    private record GuardWithAnswers(AddressGuard guard, List<InetAddress> answers) {
        List<InetAddress> resolveAllowed(TargetAddress target) {
            return guard.decideWithoutResolving(target).orElseGet(() -> guard.allowed(target, answers));
        }
    }
}

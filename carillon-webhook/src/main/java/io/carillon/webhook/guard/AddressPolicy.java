package io.carillon.webhook.guard;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * The operator's rules for the addresses of webhooks. Immutable; each method returns a changed copy.
 *
 * @param ports the ports that are allowed for all hosts
 * @param allowed {@code host:port} entries and address ranges that are exempt from all rules except {@code denied}
 * @param denied address ranges that are never connected to
 */
public record AddressPolicy(Set<Integer> ports, List<String> allowed, List<String> denied) {
    public AddressPolicy {
        if (ports.stream().anyMatch(port -> port < 1 || port > 65_535))
            throw new CarillonException(
                    ErrorCode.INVALID_OPTION, "Ports must be between 1 and 65535 (was %s).".formatted(ports));
        ports = Set.copyOf(ports);
        allowed = List.copyOf(allowed);
        denied = List.copyOf(denied);
        denied.forEach(Cidr::parse);
        allowed.stream().filter(entry -> !Cidr.isAddressOrRange(entry)).forEach(AddressPolicy::checkHost);
        allowed.stream().filter(Cidr::isAddressOrRange).forEach(Cidr::parse);
    }

    /** Returns a policy that allows public addresses on the ports 80, 443, 8080 and 8443. */
    public static AddressPolicy defaults() {
        return new AddressPolicy(Set.of(80, 443, 8080, 8443), List.of(), List.of());
    }

    /** Allows further ports for all hosts. */
    public AddressPolicy ports(int... more) {
        Set<Integer> all = new TreeSet<>(ports);
        for (int port : more) all.add(port);
        return new AddressPolicy(all, allowed, denied);
    }

    /**
     * Exempts {@code host:port} entries or address ranges such as {@code 10.1.0.0/16} from the rules. Users can then
     * reach these addresses in your network.
     */
    public AddressPolicy allow(String... entries) {
        return new AddressPolicy(
                ports, Stream.concat(allowed.stream(), Stream.of(entries)).toList(), denied);
    }

    /**
     * Denies address ranges, including public ones such as those of your own servers. A range of IPv4 addresses also
     * denies the IPv6 addresses that contain them (mapped, NAT64, 6to4, Teredo, ISATAP).
     */
    public AddressPolicy deny(String... ranges) {
        return new AddressPolicy(
                ports,
                allowed,
                Stream.concat(denied.stream(), Stream.of(ranges)).toList());
    }

    private static void checkHost(String entry) {
        if (!entry.matches("[A-Za-z0-9.-]+:[0-9]{1,5}"))
            throw new CarillonException(
                    ErrorCode.INVALID_OPTION,
                    "Invalid entry \"%s\" of allowed addresses. Use host:port or an address range such as 10.1.0.0/16."
                            .formatted(entry));
        TargetAddress.parse("http://" + entry);
    }
}

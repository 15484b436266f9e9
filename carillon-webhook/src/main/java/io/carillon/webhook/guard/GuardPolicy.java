package io.carillon.webhook.guard;

import io.carillon.value.CarillonException;
import io.carillon.value.ErrorCode;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * What the operator says about where webhooks may go. {@code ports}: those allowed anywhere; {@code allowed}: {@code host:port} or ranges of addresses that are
 * exempt from all rules; {@code denied}: ranges that are never connected to. Immutable; each method returns a changed copy.
 */
public record GuardPolicy(Set<Integer> ports, List<String> allowed, List<String> denied) {
    public GuardPolicy {
        if (ports.stream().anyMatch(port -> port < 1 || port > 65_535))
            throw new CarillonException(
                    ErrorCode.INVALID_OPTION, "Ports are numbers from 1 to 65535, not %s.".formatted(ports));
        ports = Set.copyOf(ports);
        allowed = List.copyOf(allowed);
        denied = List.copyOf(denied);
        denied.forEach(Cidr::parse);
        allowed.stream().filter(entry -> !Cidr.looksLikeOne(entry)).forEach(GuardPolicy::checkHost);
        allowed.stream().filter(Cidr::looksLikeOne).forEach(Cidr::parse);
    }

    /** Public addresses only, on the usual ports of HTTP. */
    public static GuardPolicy defaults() {
        return new GuardPolicy(Set.of(80, 443, 8080, 8443), List.of(), List.of());
    }

    /** Further ports, anywhere. */
    public GuardPolicy ports(int... more) {
        Set<Integer> all = new TreeSet<>(ports);
        for (int port : more) all.add(port);
        return new GuardPolicy(all, allowed, denied);
    }

    /** Exempts {@code host:port} or ranges of addresses, such as {@code 10.1.0.0/16}: what a user may enter there reaches your own network. */
    public GuardPolicy allow(String... entries) {
        return new GuardPolicy(
                ports, Stream.concat(allowed.stream(), Stream.of(entries)).toList(), denied);
    }

    /** Shuts out public ranges too, such as your own servers'. */
    public GuardPolicy deny(String... ranges) {
        return new GuardPolicy(
                ports,
                allowed,
                Stream.concat(denied.stream(), Stream.of(ranges)).toList());
    }

    private static void checkHost(String entry) {
        if (!entry.matches("[A-Za-z0-9.-]+:[0-9]{1,5}"))
            throw new CarillonException(
                    ErrorCode.INVALID_OPTION,
                    "'%s' cannot be allowed. Write host:port, or a range of addresses like 10.1.0.0/16."
                            .formatted(entry));
        Endpoint.of("http://" + entry);
    }
}

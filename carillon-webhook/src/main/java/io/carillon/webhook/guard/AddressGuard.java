package io.carillon.webhook.guard;

import io.carillon.internal.value.ControlCharacters;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides which addresses a delivery may connect to. All resolved addresses of a name must be allowed, and the
 * connection uses only checked addresses: a later DNS response has no effect. To users, a blocked host looks like
 * one that does not exist; the log distinguishes the two.
 */
public final class AddressGuard {
    private static final Logger log = LoggerFactory.getLogger(AddressGuard.class);
    /** Top-level names that are used in private networks, whatever they resolve to here. */
    private static final Set<String> INTERNAL_NAMES = Set.of(
            "localhost", "local", "localdomain", "internal", "intranet", "lan", "home", "corp", "private", "arpa");

    private final AddressPolicy policy;
    private final List<Cidr> allowedRanges;
    private final Set<String> allowedHosts;
    private final List<Cidr> denied;

    public AddressGuard(AddressPolicy policy) {
        this.policy = policy;
        this.allowedRanges = policy.allowed().stream()
                .filter(Cidr::isAddressOrRange)
                .map(Cidr::parse)
                .toList();
        this.allowedHosts = policy.allowed().stream()
                .filter(entry -> !Cidr.isAddressOrRange(entry))
                .map(entry -> TargetAddress.parse("http://" + entry).hostAndPort())
                .collect(Collectors.toUnmodifiableSet());
        this.denied = policy.denied().stream().map(Cidr::parse).toList();
    }

    /**
     * Applies the rules that need no name resolution, so that a target they reject costs none. Empty if the name has to
     * be resolved; otherwise the address to connect to, or no address if the target is rejected.
     */
    public Optional<List<InetAddress>> decideWithoutResolving(TargetAddress target) {
        Optional<InetAddress> literal = target.literal();
        if (literal.isPresent()) return Optional.of(allowed(target, List.of(literal.get())));
        // An allowed range exempts a name from the other rules, but whether the name is in it is known later.
        if (allowedHosts.contains(target.hostAndPort()) || !allowedRanges.isEmpty()) return Optional.empty();
        Optional<String> rejection = rejectionOfName(target);
        rejection.ifPresent(why -> logRejection(target, why));
        return rejection.map(why -> List.of());
    }

    /** Returns the resolved addresses of a target; none if one of them must not be reached. */
    public List<InetAddress> allowed(TargetAddress target, List<InetAddress> addresses) {
        if (addresses.isEmpty()) return List.of();
        Optional<String> rejection = rejectionReason(target, addresses);
        rejection.ifPresent(why -> logRejection(target, why));
        return rejection.isPresent() ? List.of() : List.copyOf(addresses);
    }

    private static void logRejection(TargetAddress target, String why) {
        log.warn(
                "webhook blocked host={} port={} reason={}",
                ControlCharacters.escape(target.host()),
                target.port(),
                why);
    }

    private Optional<String> rejectionReason(TargetAddress target, List<InetAddress> addresses) {
        if (addresses.stream().anyMatch(this::isDenied)) return Optional.of("denied");
        if (allowedHosts.contains(target.hostAndPort())) return Optional.empty();
        if (addresses.stream().allMatch(this::isExempt)) return Optional.empty();
        Optional<String> name = rejectionOfName(target);
        if (name.isPresent()) return name;
        return addresses.stream().allMatch(address -> isExempt(address) || isPublic(address))
                ? Optional.empty()
                : Optional.of("address");
    }

    private Optional<String> rejectionOfName(TargetAddress target) {
        if (!policy.ports().contains(target.port())) return Optional.of("port");
        if (target.literal().isEmpty() && isInternalName(target.host())) return Optional.of("internal name");
        return Optional.empty();
    }

    private boolean isExempt(InetAddress address) {
        byte[] bytes = address.getAddress();
        return allowedRanges.stream().anyMatch(range -> range.contains(bytes));
    }

    private boolean isDenied(InetAddress address) {
        byte[] bytes = address.getAddress();
        List<byte[]> embedded = EmbeddedIpv4.in(bytes);
        return denied.stream()
                .anyMatch(range -> range.contains(bytes) || embedded.stream().anyMatch(range::contains));
    }

    private static boolean isPublic(InetAddress address) {
        return PublicAddresses.contains(address.getAddress()) && !isOwnAddress(address);
    }

    /** A public address of this machine reaches services that trust local connections. */
    private static boolean isOwnAddress(InetAddress address) {
        try {
            return NetworkInterface.getByInetAddress(address) != null;
        } catch (SocketException unknown) {
            return true;
        }
    }

    private static boolean isInternalName(String host) {
        return INTERNAL_NAMES.contains(host.substring(host.lastIndexOf('.') + 1)) || host.indexOf('.') < 0;
    }
}

package io.carillon.webhook.guard;

import io.carillon.internal.value.ControlCharacters;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides which addresses a delivery may connect to. A name is resolved once, all its addresses must be allowed, and
 * the connection uses only checked addresses: a later DNS response has no effect. To users, a blocked host looks like
 * one that does not exist; the log distinguishes the two.
 */
public final class AddressGuard {
    private static final Logger log = LoggerFactory.getLogger(AddressGuard.class);
    /** Top-level names that are used in private networks, whatever they resolve to here. */
    private static final Set<String> INTERNAL_NAMES = Set.of(
            "localhost", "local", "localdomain", "internal", "intranet", "lan", "home", "corp", "private", "arpa");

    private final AddressPolicy policy;
    private final Resolver resolver;
    private final List<Cidr> allowedRanges;
    private final Set<String> allowedHosts;
    private final List<Cidr> denied;

    public AddressGuard(AddressPolicy policy, Resolver resolver) {
        this.policy = policy;
        this.resolver = resolver;
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

    /** Returns the checked addresses of a target; empty if it must not or cannot be reached. */
    public List<InetAddress> resolveAllowed(TargetAddress target) {
        List<InetAddress> addresses;
        try {
            Optional<InetAddress> literal = target.literal();
            addresses = literal.isPresent() ? List.of(literal.get()) : Arrays.asList(resolver.resolve(target.host()));
        } catch (UnknownHostException unknown) {
            return List.of();
        }
        Optional<String> rejection =
                addresses.isEmpty() ? Optional.of("no address") : rejectionReason(target, addresses);
        rejection.ifPresent(why -> log.warn(
                "webhook blocked host={} port={} reason={}",
                ControlCharacters.escape(target.host()),
                target.port(),
                why));
        return rejection.isPresent() ? List.of() : List.copyOf(addresses);
    }

    private Optional<String> rejectionReason(TargetAddress target, List<InetAddress> addresses) {
        if (addresses.stream().anyMatch(this::isDenied)) return Optional.of("denied");
        if (allowedHosts.contains(target.hostAndPort())) return Optional.empty();
        if (addresses.stream().allMatch(this::isExempt)) return Optional.empty();
        if (!policy.ports().contains(target.port())) return Optional.of("port");
        if (target.literal().isEmpty() && isInternalName(target.host())) return Optional.of("internal name");
        return addresses.stream().allMatch(address -> isExempt(address) || isPublic(address))
                ? Optional.empty()
                : Optional.of("address");
    }

    private boolean isExempt(InetAddress address) {
        byte[] bytes = address.getAddress();
        return allowedRanges.stream().anyMatch(range -> range.contains(bytes));
    }

    private boolean isDenied(InetAddress address) {
        byte[] bytes = address.getAddress();
        return denied.stream().anyMatch(range -> range.contains(bytes));
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

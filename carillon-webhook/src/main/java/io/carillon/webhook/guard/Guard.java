package io.carillon.webhook.guard;

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
 * Says which addresses a delivery may connect to. A name is resolved once, every answer must be allowed, and only what was checked is handed out: a second
 * answer of the name server changes nothing. Users learn no more of a blocked host than of one that is not there; the log says which it was.
 */
public final class Guard {
    private static final Logger log = LoggerFactory.getLogger(Guard.class);
    /** Names that mean something inside a network, whatever they resolve to from here. */
    private static final Set<String> INSIDE = Set.of(
            "localhost", "local", "localdomain", "internal", "intranet", "lan", "home", "corp", "private", "arpa");

    private final GuardPolicy policy;
    private final Resolver resolver;
    private final List<Cidr> allowedRanges;
    private final Set<String> allowedHosts;
    private final List<Cidr> denied;

    public Guard(GuardPolicy policy, Resolver resolver) {
        this.policy = policy;
        this.resolver = resolver;
        this.allowedRanges = policy.allowed().stream()
                .filter(Cidr::looksLikeOne)
                .map(Cidr::parse)
                .toList();
        this.allowedHosts = policy.allowed().stream()
                .filter(entry -> !Cidr.looksLikeOne(entry))
                .map(entry -> Endpoint.of("http://" + entry).hostAndPort())
                .collect(Collectors.toUnmodifiableSet());
        this.denied = policy.denied().stream().map(Cidr::parse).toList();
    }

    /** The addresses this endpoint may be reached at, checked; empty: none, for whatever reason. */
    public List<InetAddress> admit(Endpoint endpoint) {
        List<InetAddress> addresses;
        try {
            Optional<InetAddress> literal = endpoint.literal();
            addresses = literal.isPresent() ? List.of(literal.get()) : Arrays.asList(resolver.resolve(endpoint.host()));
        } catch (UnknownHostException unknown) {
            return List.of();
        }
        Optional<String> objection = addresses.isEmpty() ? Optional.of("no address") : objection(endpoint, addresses);
        objection.ifPresent(
                why -> log.warn("webhook blocked host={} port={} why={}", endpoint.host(), endpoint.port(), why));
        return objection.isPresent() ? List.of() : List.copyOf(addresses);
    }

    private Optional<String> objection(Endpoint endpoint, List<InetAddress> addresses) {
        if (addresses.stream().anyMatch(this::shutOut)) return Optional.of("denied");
        if (allowedHosts.contains(endpoint.hostAndPort())) return Optional.empty();
        if (addresses.stream().allMatch(this::exempt)) return Optional.empty();
        if (!policy.ports().contains(endpoint.port())) return Optional.of("port");
        if (endpoint.literal().isEmpty() && inside(endpoint.host())) return Optional.of("name of an inner network");
        return addresses.stream().allMatch(address -> exempt(address) || outside(address))
                ? Optional.empty()
                : Optional.of("address");
    }

    private boolean exempt(InetAddress address) {
        byte[] bytes = address.getAddress();
        return allowedRanges.stream().anyMatch(range -> range.contains(bytes));
    }

    private boolean shutOut(InetAddress address) {
        byte[] bytes = address.getAddress();
        return denied.stream().anyMatch(range -> range.contains(bytes));
    }

    private static boolean outside(InetAddress address) {
        return PublicAddresses.contains(address.getAddress()) && !ours(address);
    }

    /** This machine's own public address leads to what listens here for its friends. */
    private static boolean ours(InetAddress address) {
        try {
            return NetworkInterface.getByInetAddress(address) != null;
        } catch (SocketException unknown) {
            return true;
        }
    }

    private static boolean inside(String host) {
        return INSIDE.contains(host.substring(host.lastIndexOf('.') + 1)) || host.indexOf('.') < 0;
    }
}

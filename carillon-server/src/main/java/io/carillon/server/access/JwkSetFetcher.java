package io.carillon.server.access;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpRequest;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reads the key document of an issuer over HTTP. */
final class JwkSetFetcher implements Supplier<Optional<String>> {
    private static final Logger log = LoggerFactory.getLogger(JwkSetFetcher.class);

    private final BoundedHttp http;
    private final URI address;

    JwkSetFetcher(URI address) {
        this(address, BoundedHttp.TIMEOUT);
    }

    /** Creates a fetcher with another limit for the time of a response. */
    JwkSetFetcher(URI address, Duration timeout) {
        this.http = new BoundedHttp(timeout);
        this.address = address;
    }

    @Override
    public Optional<String> get() {
        try {
            BoundedHttp.Reply reply = http.send(HttpRequest.newBuilder(address));
            if (reply.status() == 200) return Optional.of(reply.body());
            log.warn("could not read the issuer's keys; keeping the known ones status={}", reply.status());
        } catch (IOException failure) {
            log.warn("could not read the issuer's keys; keeping the known ones", failure);
        }
        return Optional.empty();
    }
}

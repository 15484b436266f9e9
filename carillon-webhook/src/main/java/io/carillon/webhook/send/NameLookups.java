package io.carillon.webhook.send;

import io.carillon.internal.value.ControlCharacters;
import io.carillon.webhook.guard.Resolver;
import io.carillon.webhook.send.LookupPlaces.Name;
import io.carillon.webhook.send.LookupPlaces.Place;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Resolves names on separate threads, because the JDK has no timeout for name resolution: a name server that does not
 * respond blocks the thread for longer than the delivery may take. {@link LookupPlaces} divides the threads between
 * projects, and between quick and slow names; a lookup counts until its thread is free. Deliveries of a project to the
 * same name share a lookup that is in progress. Thread-safe.
 */
final class NameLookups implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(NameLookups.class);
    /** A lookup without an answer, and one that tries again. */
    static final int MAX_LOOKUPS_PER_NAME = 2;

    private static final Duration PAUSE_OF_NAME = Duration.ofSeconds(5);
    private static final Duration PAUSE_OF_PROJECT = Duration.ofSeconds(1);

    /** The result of {@link #resolve}. */
    sealed interface Result {
        /** The addresses of the name; none if it is unknown. */
        record Resolved(List<InetAddress> addresses) implements Result {}

        /** There was no answer in time. */
        record TimedOut() implements Result {}

        /** The name was not resolved, because the project or the name has reached its limit on this node. */
        record HeldBack(String reason, Duration pause) implements Result {}
    }

    private final Resolver resolver;
    private final ExecutorService threads = Threads.resolverPool();
    private final LookupPlaces places = new LookupPlaces(System::nanoTime);
    private final Map<Name, List<Lookup>> lookups = new HashMap<>();

    NameLookups(Resolver resolver) {
        this.resolver = resolver;
    }

    /** Resolves a name. Returns within the timeout, also if the thread of the lookup stays blocked. */
    Result resolve(String project, String host, Duration timeout) throws InterruptedException {
        Name name = new Name(project, host);
        Lookup lookup;
        synchronized (this) {
            List<Lookup> ofName = lookups.computeIfAbsent(name, unused -> new ArrayList<>());
            lookup = ofName.stream().filter(one -> !one.abandoned).findAny().orElse(null);
            if (lookup == null) {
                if (ofName.size() >= MAX_LOOKUPS_PER_NAME)
                    return heldBack("earlier lookups of the host name are not answered yet", PAUSE_OF_NAME);
                lookup = start(name, ofName);
                if (lookup == null)
                    return heldBack("too many lookups of this project are not answered yet", PAUSE_OF_PROJECT);
            }
            lookup.waiting++;
        }
        boolean answered = false;
        try {
            List<InetAddress> addresses = lookup.answer.get(timeout.toNanos(), TimeUnit.NANOSECONDS);
            answered = true;
            return new Result.Resolved(addresses);
        } catch (TimeoutException slow) {
            return new Result.TimedOut();
        } catch (ExecutionException broken) {
            answered = true;
            throw new IllegalStateException("the resolver failed", broken.getCause());
        } finally {
            if (!answered) leave(lookup);
        }
    }

    /** Starts a lookup. Returns null if the project has no place left. */
    private @Nullable Lookup start(Name name, List<Lookup> ofName) {
        lookups.values().forEach(all -> all.forEach(one -> one.place.checkAge()));
        Optional<Place> place = places.tryAcquire(name);
        if (place.isEmpty()) {
            if (ofName.isEmpty()) lookups.remove(name);
            return null;
        }
        Lookup lookup = new Lookup(place.get());
        ofName.add(lookup);
        boolean started = false;
        try {
            threads.execute(lookup);
            started = true;
            return lookup;
        } catch (RejectedExecutionException closed) {
            return null;
        } finally {
            if (!started) remove(lookup);
        }
    }

    /**
     * Ends the wait of one caller. Later callers do not join a lookup that was too slow for a caller: they would wait
     * for the same answer.
     */
    private synchronized void leave(Lookup lookup) {
        lookup.waiting--;
        if (lookup.ended) return;
        Name name = lookup.place.name;
        if (!lookup.abandoned)
            log.warn(
                    "name lookup not answered in time host={} project={}",
                    ControlCharacters.escape(name.host()),
                    name.project());
        lookup.abandoned = true;
        lookup.place.setSlow();
        // The resolver of the operating system ignores the interrupt, others may end early.
        if (lookup.waiting == 0 && lookup.thread != null) lookup.thread.interrupt();
    }

    private synchronized void remove(Lookup lookup) {
        lookup.ended = true;
        lookup.thread = null;
        Name name = lookup.place.name;
        List<Lookup> ofName = lookups.getOrDefault(name, new ArrayList<>());
        ofName.remove(lookup);
        if (ofName.isEmpty()) lookups.remove(name);
        lookup.place.release();
    }

    /** Adds a random part, so that the deliveries that wait do not return at the same moment. */
    private static Result heldBack(String reason, Duration pause) {
        return new Result.HeldBack(
                reason, pause.plusMillis(ThreadLocalRandom.current().nextLong(pause.toMillis())));
    }

    @Override
    public void close() {
        threads.shutdownNow();
    }

    /** The lookup of one name. Its fields are guarded by the lock of {@link NameLookups}. */
    private final class Lookup implements Runnable {
        final Place place;
        final CompletableFuture<List<InetAddress>> answer = new CompletableFuture<>();
        int waiting;
        /** Whether it was too slow for a caller. */
        boolean abandoned;

        boolean ended;

        @Nullable
        Thread thread;

        Lookup(Place place) {
            this.place = place;
        }

        @Override
        public void run() {
            synchronized (NameLookups.this) {
                thread = Thread.currentThread();
            }
            List<InetAddress> addresses = List.of();
            Throwable failure = null;
            try {
                addresses = List.of(resolver.resolve(place.name.host()));
            } catch (UnknownHostException unknown) {
                // The name has no address.
            } catch (RuntimeException | Error broken) {
                failure = broken;
            }
            // Before the answer is set: a caller that has it and resolves the name again starts a new lookup.
            remove(this);
            if (failure == null) answer.complete(addresses);
            else answer.completeExceptionally(failure);
        }
    }
}

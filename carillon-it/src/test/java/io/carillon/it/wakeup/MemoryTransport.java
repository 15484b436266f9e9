package io.carillon.it.wakeup;

import io.carillon.spi.WakeTransport;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * A queue in memory with competing consumers, like a message broker; a message can be delayed by at most seven days.
 */
final class MemoryTransport implements WakeTransport, AutoCloseable {
    static final Duration LONGEST = Duration.ofDays(7);

    private final ScheduledExecutorService deliveries = Executors.newSingleThreadScheduledExecutor();
    private final List<Consumer<Message>> consumers = new CopyOnWriteArrayList<>();
    private final AtomicInteger sent = new AtomicInteger();

    @Override
    public Duration longestDelay() {
        return LONGEST;
    }

    @Override
    public void send(Message message, Duration delay) {
        int number = sent.getAndIncrement();
        ScheduledFuture<?> unused = deliveries.schedule(
                () -> {
                    List<Consumer<Message>> now = List.copyOf(consumers);
                    if (!now.isEmpty()) now.get(number % now.size()).accept(message);
                },
                delay.toNanos(),
                TimeUnit.NANOSECONDS);
    }

    @Override
    public AutoCloseable receive(Consumer<Message> consumer) {
        consumers.add(consumer);
        return () -> consumers.remove(consumer);
    }

    int sent() {
        return sent.get();
    }

    int consumers() {
        return consumers.size();
    }

    @Override
    public void close() {
        deliveries.shutdownNow();
    }
}

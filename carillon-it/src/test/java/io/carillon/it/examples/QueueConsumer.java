package io.carillon.it.examples;

import io.carillon.Carillon;
import io.carillon.Wakeup;
import io.carillon.run.HandlerType;
import io.carillon.spi.Keyring;
import io.carillon.spi.MessageQueue;
import io.carillon.spi.WakeTransport;
import java.time.Duration;
import java.util.function.Consumer;
import javax.sql.DataSource;

/**
 * A worker that executes the runs that the messages of a queue name. It has no node, and no loop but its own: a process
 * that enqueues sends the messages, and so does the worker, for the next attempt of a run.
 */
public final class QueueConsumer {
    record Greeting(String to) {}

    static final HandlerType<Greeting> GREET = HandlerType.of("greeting", Greeting.class);
    private static final int MAX_BATCH = 10;
    private static final Duration WAIT = Duration.ofSeconds(5);

    private final Carillon carillon;
    private final Thread thread;

    /** Starts the worker. The transport sends to the queue; the keys are those of the processes that enqueue. */
    public QueueConsumer(
            DataSource dataSource, WakeTransport transport, Keyring keys, MessageQueue queue, Consumer<String> greet) {
        carillon = Carillon.on(dataSource)
                .wakeup(Wakeup.queue(transport).messagePerRun(keys, Duration.ofDays(1)))
                .handle(GREET, (greeting, run) -> greet.accept(greeting.to()))
                .build();
        thread = new Thread(() -> consume(queue), "queue-consumer");
        thread.start();
    }

    private void consume(MessageQueue queue) {
        try {
            while (!Thread.currentThread().isInterrupted()) carillon.consume(queue, MAX_BATCH, WAIT);
        } catch (InterruptedException closed) {
            Thread.currentThread().interrupt();
        }
    }

    /** Interrupts the run that is being executed; its message is delivered again. */
    public void stop() throws InterruptedException {
        thread.interrupt();
        thread.join();
        carillon.close();
    }
}

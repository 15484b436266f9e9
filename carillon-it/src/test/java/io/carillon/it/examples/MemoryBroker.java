package io.carillon.it.examples;

import io.carillon.spi.MessageQueue;
import io.carillon.spi.WakeTransport;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** A queue in memory that cannot delay messages, in place of a broker: one object is both ends of the queue. */
final class MemoryBroker implements WakeTransport, MessageQueue {
    private final BlockingQueue<String> texts = new LinkedBlockingQueue<>();

    @Override
    public Duration longestDelay() {
        return Duration.ZERO;
    }

    @Override
    public void send(Message message, Duration delay) {
        texts.add(message.text());
    }

    @Override
    public AutoCloseable receive(Consumer<Message> consumer) {
        throw new UnsupportedOperationException("the messages are taken in batches");
    }

    @Override
    public List<Received> take(int max, Duration wait) throws InterruptedException {
        List<Received> batch = new ArrayList<>();
        String text = texts.poll(wait.toMillis(), TimeUnit.MILLISECONDS);
        while (text != null) {
            batch.add(new Taken(text));
            text = batch.size() < max ? texts.poll() : null;
        }
        return batch;
    }

    private final class Taken implements Received {
        private final String text;

        Taken(String text) {
            this.text = text;
        }

        @Override
        public String text() {
            return text;
        }

        @Override
        public void acknowledge() {
            // The message was removed when it was taken. A real broker removes it now.
        }

        @Override
        public void retry(Duration delay) {
            texts.add(text);
        }

        @Override
        public void giveUp(String reason) {
            // A real broker moves it to a dead-letter queue.
        }
    }
}

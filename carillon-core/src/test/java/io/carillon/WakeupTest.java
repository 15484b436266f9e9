package io.carillon;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.carillon.run.Enqueue;
import io.carillon.spi.WakeTransport;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

class WakeupTest {
    private static final Duration WEEK = Duration.ofDays(7);
    private final List<String> sent = new ArrayList<>();
    private final WakeTransport transport = new WakeTransport() {
        @Override
        public Duration longestDelay() {
            return WEEK;
        }

        @Override
        public void send(Message message, Duration delay) {
            sent.add(message.text() + " in " + delay);
        }

        @Override
        public AutoCloseable receive(Consumer<Message> consumer) {
            return () -> {};
        }
    };

    @Test
    void is_chosen_by_name() {
        assertThat(Wakeup.named("polling", null)).isEqualTo(Wakeup.polling());
        assertThat(Wakeup.named("notify", null)).isEqualTo(Wakeup.notifying());
        assertThat(Wakeup.named("http", null)).isEqualTo(Wakeup.http());
        assertThat(Wakeup.named("queue", transport)).isEqualTo(Wakeup.queue(transport));
        assertThat(Wakeup.named("hybrid", transport)).isEqualTo(Wakeup.hybrid(transport));
    }

    @Test
    void rejects_invalid_settings_and_says_why() {
        refused(() -> Wakeup.named("queue", null), "'queue' needs a transport");
        refused(() -> Wakeup.named("hybrid", null), "'hybrid' needs a transport");
        refused(() -> Wakeup.named("polling", transport), "'polling' does not use a transport");
        refused(
                () -> Wakeup.named("pigeon", null),
                "Unknown wake-up mode 'pigeon'. Use one of polling, notify, queue, http, hybrid");
        refused(
                () -> Wakeup.polling(Duration.ofSeconds(2), Duration.ofSeconds(1)),
                "pollMin <= pollMax (was PT2S and PT1S)");
        refused(() -> Wakeup.polling(Duration.ZERO, Duration.ofSeconds(1)), "between 1 ms and 1 day");
    }

    @Test
    void queue_mode_rejects_runs_due_later_than_a_message_can_be_delayed() {
        Enqueue.Due far = Enqueue.after(WEEK.plusMillis(1)).due();

        Wakeup.hybrid(transport).rejectTooFarAhead(far);
        Wakeup.polling().rejectTooFarAhead(far);
        Wakeup.queue(transport).rejectTooFarAhead(Enqueue.after(WEEK).due());
        refused(
                () -> Wakeup.queue(transport).rejectTooFarAhead(far),
                "due in PT168H0.001S exceeds the longest message delay of this transport (PT168H)");
    }

    @Test
    void a_message_is_sent_only_if_the_transport_supports_its_delay() {
        WakeTransport.Message message = new WakeTransport.Message("default", "mail");

        assertThat(transport.trySend(message, WEEK)).isTrue();
        assertThat(transport.trySend(message, WEEK.plusNanos(1))).isFalse();

        assertThat(sent).containsExactly("mail default in PT168H");
        assertThat(WakeTransport.Message.parse("mail default")).isEqualTo(message);
    }

    private static void refused(Runnable call, String why) {
        assertThatThrownBy(call::run).isInstanceOf(CarillonException.class).hasMessageContaining(why);
    }
}

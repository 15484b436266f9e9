package io.carillon.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.carillon.run.Enqueue;
import io.carillon.run.Lane;
import io.carillon.value.CarillonException;
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
    void names_the_part_that_is_missing_or_too_much() {
        refused(() -> Wakeup.named("queue", null), "'queue' needs a transport");
        refused(() -> Wakeup.named("hybrid", null), "'hybrid' needs a transport");
        refused(() -> Wakeup.named("polling", transport), "'polling' has no use for a transport");
        refused(
                () -> Wakeup.named("pigeon", null),
                "no wake-up mode 'pigeon'. Choose one of polling, notify, queue, http, hybrid");
        refused(() -> Wakeup.polling(Duration.ofSeconds(2), Duration.ofSeconds(1)), "upside down");
        refused(() -> Wakeup.polling(Duration.ZERO, Duration.ofSeconds(1)), "outside 1 ms..1 day");
    }

    @Test
    void queue_alone_refuses_what_no_message_can_wait_for() {
        Enqueue.Due far = Enqueue.after(WEEK.plusMillis(1)).due();

        Wakeup.hybrid(transport).refuseOutOfReach(far);
        Wakeup.polling().refuseOutOfReach(far);
        Wakeup.queue(transport).refuseOutOfReach(Enqueue.after(WEEK).due());
        refused(() -> Wakeup.queue(transport).refuseOutOfReach(far), "PT168H0.001S is further off than the PT168H");
    }

    @Test
    void a_message_is_sent_only_if_it_can_wait_so_long() {
        Lane lane = new Lane("mail", "default");

        assertThat(transport.carries(lane, WEEK)).isTrue();
        assertThat(transport.carries(lane, WEEK.plusNanos(1))).isFalse();

        assertThat(sent).containsExactly("mail default in PT168H");
        assertThat(WakeTransport.Message.parse("mail default")).isEqualTo(new WakeTransport.Message(lane));
    }

    private static void refused(Runnable call, String why) {
        assertThatThrownBy(call::run).isInstanceOf(CarillonException.class).hasMessageContaining(why);
    }
}

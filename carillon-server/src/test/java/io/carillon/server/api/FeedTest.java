package io.carillon.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.server.store.FeedRepository.Happening;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** All who listen to one project share a question. */
class FeedTest {
    private static final Instant NOON = Instant.parse("2026-06-01T12:00:00Z");

    private final List<Instant> asked = new ArrayList<>();
    private final Feed feed = new Feed(NOON);

    private static Happening happening(int second) {
        return new Happening(
                new UUID(1, second), "run.ended", NOON.plusSeconds(second), "succeeded", "mail", "send-" + second);
    }

    private List<Happening> answer(Instant since) {
        asked.add(since);
        return List.of(happening(1), happening(2), happening(2));
    }

    private List<String> heard(long after) {
        return feed.after(after, this::answer).stream()
                .map(news -> news.happening().name())
                .toList();
    }

    @Test
    void many_who_ask_at_once_cost_one_question_and_hear_the_same_once() {
        for (int listener = 0; listener < 40; listener++) assertThat(heard(0)).containsExactly("send-1", "send-2");
        assertThat(asked).containsExactly(NOON);
        assertThat(heard(1)).containsExactly("send-2");
        assertThat(heard(feed.last())).isEmpty();
    }
}

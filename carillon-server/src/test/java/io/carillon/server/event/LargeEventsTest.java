package io.carillon.server.event;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.server.RestTestServer;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.JsonNode;

/** Large events are read in several pages, so that no response has more than a few megabytes. */
class LargeEventsTest {
    private static final int EVENTS = 40;
    private static final int BYTES = 250_000;

    @RegisterExtension
    static final RestTestServer SERVER = new RestTestServer();

    @Test
    void a_page_and_a_list_of_the_newest_events_end_at_about_four_megabytes() {
        String key = SERVER.createProject("large");
        String data = "\"" + "x".repeat(BYTES) + "\"";
        for (int i = 0; i < EVENTS; i++)
            SERVER.post(key, "/v1/events", "{\"topic\":\"t\",\"type\":\"a\",\"data\":" + data + "}")
                    .requireStatus(201);
        SERVER.runDue();

        Set<String> seen = new HashSet<>();
        int pages = 0;
        String after = "";
        boolean atEnd = false;
        while (!atEnd) {
            JsonNode page = SERVER.get(key, "/v1/events?topic=t&limit=200" + after)
                    .requireStatus(200)
                    .json();
            assertThat(page.path("items").size()).isLessThanOrEqualTo(4 * 1024 * 1024 / BYTES + 1);
            page.path("items").forEach(event -> seen.add(event.path("id").asString()));
            after = "&after=" + page.path("next").asString();
            atEnd = page.path("atEnd").booleanValue();
            assertThat(++pages).isLessThan(10);
        }

        assertThat(seen).hasSize(EVENTS);
        for (String filter : new String[] {"", "&type=a*"})
            assertThat(SERVER.get(key, "/v1/events?topic=t&order=newest&limit=200" + filter)
                            .requireStatus(200)
                            .json()
                            .path("items")
                            .size())
                    .isBetween(10, 4 * 1024 * 1024 / BYTES + 1);
    }
}

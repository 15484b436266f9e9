package io.carillon.cli;

import io.carillon.schedule.Preview;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** The explanation as JSON. Times are RFC 3339; a wall-clock time has no offset because it may not exist. */
final class CronJson {
    private static final DateTimeFormatter WALL_TIME =
            DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss", Locale.ROOT);
    private static final DateTimeFormatter LOCAL = DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ssxxx", Locale.ROOT);

    private CronJson() {}

    static ObjectNode of(CronExplanation answer) {
        Preview preview = answer.preview();
        ObjectNode root = JsonNodeFactory.instance
                .objectNode()
                .put("expression", answer.expression())
                .put("zone", preview.zone().getId())
                .put("description", preview.description())
                .put("after", answer.after().toString());
        ArrayNode entries = root.putArray("entries");
        for (Preview.Entry entry : preview.entries()) {
            ObjectNode node =
                    entries.addObject().put("runs", entry.willRun()).put("planned", WALL_TIME.format(entry.planned()));
            if (entry.willRun())
                node.put("local", LOCAL.format(entry.at()))
                        .put("utc", entry.utc().toString());
            if (entry.mark() != Preview.Mark.NONE)
                node.put("mark", CronExplanation.markText(entry.mark()))
                        .put("why", CronExplanation.markReason(entry.mark(), CronExplanation.wallTime(entry)));
        }
        if (!preview.warnings().isEmpty()) {
            ArrayNode warnings = root.putArray("warnings");
            preview.warnings().forEach(warnings::add);
        }
        return root;
    }
}

package io.carillon.cli;

import io.carillon.schedule.Preview;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** The answer as JSON. Times are RFC 3339; a wall time has no offset, for it may not exist. */
final class CronJson {
    private static final DateTimeFormatter WALL = DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss", Locale.ROOT);
    private static final DateTimeFormatter LOCAL = DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ssxxx", Locale.ROOT);

    private CronJson() {}

    static ObjectNode of(CronAnswer answer) {
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
                    entries.addObject().put("runs", entry.runs()).put("planned", WALL.format(entry.planned()));
            if (entry.runs())
                node.put("local", LOCAL.format(entry.at()))
                        .put("utc", entry.utc().toString());
            if (entry.mark() != Preview.Mark.NONE)
                node.put("mark", CronAnswer.word(entry.mark()))
                        .put("why", CronAnswer.why(entry.mark(), CronAnswer.wall(entry)));
        }
        if (!preview.warnings().isEmpty()) {
            ArrayNode warnings = root.putArray("warnings");
            preview.warnings().forEach(warnings::add);
        }
        return root;
    }
}

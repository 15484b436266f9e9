package io.carillon.cli.dev;

import io.carillon.cli.shell.DurationText;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** The text at the start of the node: its database, its schedules, commands to try, and how to stop it. */
record StartupBanner(
        LiveSnapshot.Header header, String schema, List<LiveSnapshot.ScheduleRow> schedules, RestInfo restInfo) {
    /**
     * The address of the REST API, the address of the echo receiver for webhooks, and commands to try.
     *
     * @param profile the text about the profile of the node; empty if it has none
     */
    record RestInfo(String url, Dashboard dashboard, String echoUrl, String profile, List<String> examples) {}

    /**
     * How to open the dashboard.
     *
     * @param link its address, or a link that logs in
     * @param hint how to log in; empty if there is nothing to say
     * @param later what to show when the link has expired
     */
    record Dashboard(String link, String hint, String later) {
        String text() {
            return hint.isEmpty() ? link : link + "  (" + hint + ")";
        }
    }

    private static final String ENTRY_FORMAT = "  %-10s %s";

    String text() {
        List<String> lines = new ArrayList<>();
        lines.add("");
        lines.add("Carillon " + header.version());
        lines.add("*** DEV MODE: for trying things out. NOT FOR PRODUCTION. ***");
        lines.add("");
        lines.add(ENTRY_FORMAT.formatted("database", header.database()));
        lines.add(ENTRY_FORMAT.formatted("schema", schema));
        lines.add(ENTRY_FORMAT.formatted("data", header.data()));
        lines.add(ENTRY_FORMAT.formatted("log", header.log()));
        if (schedules.isEmpty()) lines.add(ENTRY_FORMAT.formatted("schedules", "none yet"));
        for (int i = 0; i < schedules.size(); i++)
            lines.add(ENTRY_FORMAT.formatted(i == 0 ? "schedules" : "", row(schedules.get(i))));
        lines.add(ENTRY_FORMAT.formatted("dashboard", restInfo.dashboard().text()));
        lines.add(ENTRY_FORMAT.formatted("rest", restInfo.url()));
        lines.add(ENTRY_FORMAT.formatted(
                "webhooks", restInfo.echoUrl() + " echoes webhooks; they may call this machine " + "(loopback)"));
        if (!restInfo.profile().isEmpty()) lines.add(ENTRY_FORMAT.formatted("profile", restInfo.profile()));
        for (int i = 0; i < restInfo.examples().size(); i++)
            lines.add(ENTRY_FORMAT.formatted(
                    i == 0 ? "try" : "", restInfo.examples().get(i)));
        lines.add(ENTRY_FORMAT.formatted("stop", "Ctrl-C; the data is kept"));
        lines.add("");
        return String.join("\n", lines);
    }

    private String row(LiveSnapshot.ScheduleRow schedule) {
        int names =
                schedules.stream().mapToInt(one -> one.name().length()).max().orElse(0);
        int timings = schedules.stream()
                .mapToInt(one -> one.description().length())
                .max()
                .orElse(0);
        return ("%-" + names + "s  %-" + timings + "s  %s")
                .formatted(schedule.name(), schedule.description(), nextText(schedule));
    }

    static String nextText(LiveSnapshot.ScheduleRow schedule) {
        if (schedule.paused()) return "paused";
        Duration next = schedule.next();
        return next == null ? "no further run" : "next in " + DurationText.countdown(next);
    }
}
